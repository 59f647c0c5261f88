"""RPRS (Askari et al., 2024): which proportion of each document's sentences has a counterpart in the other."""
