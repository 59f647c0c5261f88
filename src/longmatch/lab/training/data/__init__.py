"""Training data: the tokens of documents, and pairs, classes or links between them, by split."""
