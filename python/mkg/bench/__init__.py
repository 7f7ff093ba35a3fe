"""Measurements that people can repeat: recall on labelled dialogues, silence, scope."""
