"""Commands behind docs/benchmarks.md and other figures: each module with a `main` runs as `python -m`."""
