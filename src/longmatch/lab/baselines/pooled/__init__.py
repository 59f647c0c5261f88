"""One vector per document: the inference rules that SDR (section 4.3) is compared with."""
