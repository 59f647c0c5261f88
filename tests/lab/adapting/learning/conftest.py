"""A collection in which documents of a pair share rare words, and one such word decides."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from longmatch.lab.adapting.learning.material import Material, both_ways, bounds

PAIRS, SENTENCES, TOKENS = 12, 5, 6


def unit_rows(counts: np.ndarray) -> sp.csr_array:
    """Each row of length 1."""
    return sp.csr_array(counts / np.maximum(np.linalg.norm(counts, axis=1, keepdims=True), 1e-9))


@pytest.fixture
def material() -> Material:
    """Documents 2k and 2k + 1 belong together: most of their tokens are the pair's own."""
    rng = np.random.default_rng(0)
    documents = 2 * PAIRS
    own = 10 + np.repeat(np.arange(PAIRS), 2)[:, None, None]
    tokens = np.where(
        rng.random((documents, SENTENCES, TOKENS)) < 0.5,
        own,
        rng.integers(30, 50, (documents, SENTENCES, TOKENS)),
    )
    counts = np.zeros((documents, 60))
    for number in range(documents):
        np.add.at(counts[number], tokens[number].reshape(-1), 1)
    common = unit_rows(counts[:, 30:])  # the lexical sides do not see the words that decide
    return Material(
        "pairs",
        tokens.reshape(-1).astype(np.int32),
        np.arange(0, documents * SENTENCES * TOKENS + 1, TOKENS),
        np.arange(0, documents * SENTENCES + 1, SENTENCES),
        common,
        common,
        both_ways([(2 * k, 2 * k + 1) for k in range(PAIRS)]),
    )


@pytest.fixture
def titled(material: Material) -> Material:
    """Each title has a token of its own, and one sentence of the document it belongs with, its second, has it too.

    All other tokens are common, so only titles decide. The last document has no title.
    """
    rng = np.random.default_rng(1)
    documents = np.arange(2 * PAIRS)
    tokens = rng.integers(40, 50, (2 * PAIRS, SENTENCES, TOKENS))
    tokens[:, 1, 2:5] = 10 + (documents ^ 1)[:, None]
    titles = rng.integers(40, 50, (2 * PAIRS, 3))
    titles[:, 1:] = 10 + documents[:, None]
    counts = np.where(documents < 2 * PAIRS - 1, 3, 0)
    return replace(
        material,
        tokens=tokens.reshape(-1).astype(np.int32),
        title_tokens=titles[:-1].reshape(-1).astype(np.int32),
        titles=bounds(counts),
        trust=0.5,
    )
