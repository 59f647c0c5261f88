"""SDR's hierarchical score (section 3.3): sentences, paragraphs, documents; it ranks without labels."""
