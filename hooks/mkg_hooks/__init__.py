"""What stands between an agent client and the memory; standard library only.

Importable with `python -I -S` from the folder above, so that a hook can redact and spool an event
when no worker answers.
"""
