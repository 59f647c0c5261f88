"""CIG: a graph of the concepts of two documents, and a graph network that reads it."""
