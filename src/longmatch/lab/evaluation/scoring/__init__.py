"""Score queries against a whole collection from stored encodings, in slices that fit into memory."""
