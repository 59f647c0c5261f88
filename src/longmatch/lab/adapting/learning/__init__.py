"""A low-rank change of a backbone, learnt from the passages of unlabelled documents."""
