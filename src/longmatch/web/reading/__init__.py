"""Reads untrusted files in a separate process with little time, memory and rights."""
