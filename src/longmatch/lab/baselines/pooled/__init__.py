"""One vector per document: the inference rules that SDR (section 4.4) is compared with."""
