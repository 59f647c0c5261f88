"""SDR (2021): a sentence encoder that learns without labels. Its hierarchical score is `longmatch.sdr`."""
