"""Text to vectors: pretrained backbones, engines that compute them, and batches within a token budget."""
