"""BERT over packed sequences: concatenated in one array, without padding; used on GPUs."""
