"""Damaged files of every format, read again and again: `make fuzz`."""
