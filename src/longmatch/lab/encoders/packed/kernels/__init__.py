"""Triton kernels. Nothing here is imported where Triton is not installed."""
