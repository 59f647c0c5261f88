"""BERT-PLI: a cross-encoder on pairs of passages, and an attention over what it makes of them."""
