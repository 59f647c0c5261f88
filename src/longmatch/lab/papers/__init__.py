"""The four systems, a folder each, to be read beside its paper: encoder, loss, training, explanation."""
