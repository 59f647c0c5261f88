"""SDR (Ginzburg et al., 2021): sentence vectors, scored sentence -> paragraph -> document."""
