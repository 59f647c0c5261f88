"""The siamese baselines of the papers: each document is read alone and becomes one vector."""
