"""Documents written for measuring the readers: their outlines are known, in every format they are saved in."""
