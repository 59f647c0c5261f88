"""What measures longmatch: each module runs from the repository's root, `python -m benchmarks.NAME`."""
