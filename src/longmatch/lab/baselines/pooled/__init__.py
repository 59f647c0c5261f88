"""One vector a document: the inference rules SDR (section 4.3) compares its own with."""
