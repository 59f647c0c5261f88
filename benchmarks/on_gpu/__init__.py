"""The parts of gpu.py: what is read, by which ways, and how that is measured."""
