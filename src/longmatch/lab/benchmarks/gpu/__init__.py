"""GPU utilisation of encoding and training: `python -m longmatch.lab.benchmarks.gpu`."""
