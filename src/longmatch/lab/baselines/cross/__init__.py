"""The cross-encoder: one network reads parts of two documents together."""
