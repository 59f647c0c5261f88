"""One Trainer for every trainable model: data, recipes, resuming, several GPUs."""
