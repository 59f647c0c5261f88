"""Arrays derived from documents, made once and memory-mapped: tokens, words, vectors."""
