"""GPU utilisation of encoding and training: `python -m benchmarks.papers.gpu`."""
