"""Encoders that run on torch: on a GPU, in training, and for architectures that the product's engine does not read."""

import os

# torch reads these when it is imported, which this package does next.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # idle threads must not spin while another process is busy
# A cached matrix product takes about 1 MB per shape; batches have a thousand shapes, and torch would cache them all.
os.environ.setdefault("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "64")
os.environ.setdefault("LRU_CACHE_CAPACITY", "16")
