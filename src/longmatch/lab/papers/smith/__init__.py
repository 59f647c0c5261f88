"""SMITH (Yang et al., 2020): a siamese hierarchical transformer over sentence blocks."""
