"""BERT-PLI: a cross-encoder over pairs of paragraphs, and a GRU with attention over its vectors."""
