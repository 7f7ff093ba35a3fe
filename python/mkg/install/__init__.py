"""Registering the memory with agent clients. `clients` is the table, `plan` what is done."""
