"""The cross-encoder: one network reads parts of both documents together."""
