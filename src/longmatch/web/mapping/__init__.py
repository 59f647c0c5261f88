"""The library in two dimensions: where each document lies, which lie together, and what those are about."""
