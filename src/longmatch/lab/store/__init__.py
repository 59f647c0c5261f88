"""What is derived from documents, kept on disk as flat arrays: tokens and vectors, made once and memory-mapped."""
