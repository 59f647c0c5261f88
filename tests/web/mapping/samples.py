"""Vectors with known groups."""

import numpy as np


def gaussians(count, groups, noise, seed=0, width=128):
    """Unit vectors around random centres, in a random projection of 40 dimensions, and the group of each."""
    chance = np.random.default_rng(seed)
    labels = chance.integers(0, groups, count)
    points = chance.standard_normal((groups, 40))[labels] + noise * chance.standard_normal((count, 40))
    vectors = points @ chance.standard_normal((40, width)) + 3 * chance.standard_normal(width)
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32), labels
