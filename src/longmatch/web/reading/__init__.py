"""Reading a file that a stranger may have made: in a process of its own that has little time, memory and rights."""
