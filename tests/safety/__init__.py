"""Libraries whose writers are killed, whose files are damaged, whose disk is full: `make kills`, `make flips`."""
