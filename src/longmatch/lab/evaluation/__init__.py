"""Measures, protocols, significance, explanation fidelity, and the reports made of them."""
