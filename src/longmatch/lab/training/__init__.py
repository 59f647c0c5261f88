"""Training: what the models share."""
