"""Matching by shared words and phrases: TF-IDF cosine and BM25, over hashed terms, in any language."""
