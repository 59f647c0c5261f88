"""Siamese networks with one vector per document: DSSM, ARC-I, HAN, SMASH and S-LONG (CoLDE section 4.1.3)."""
