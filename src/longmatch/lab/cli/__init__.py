"""The commands of the laboratory: adapt, data, evaluate, train."""
