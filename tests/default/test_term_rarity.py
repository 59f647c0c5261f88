"""Common phrases."""

import numpy as np

from longmatch.default.term_rarity import COMMON, SEARCHES_OF_A_QUESTION, Boilerplate
from longmatch.lexical.weights import Blend, Frequencies


def test_phrases_looked_up_are_those_found_by_the_table() -> None:
    chance = np.random.default_rng(0)
    terms = np.unique(chance.integers(0, 1 << 62, 5_000).astype(np.uint64))
    collection = Frequencies(300.0, terms[::2], chance.integers(1, 9, len(terms[::2])).astype(float))
    background = Frequencies(1_000.0, terms[::3], chance.integers(1, 30, len(terms[::3])).astype(float))
    blend = Blend(collection, background, worth=200.0)
    running = chance.choice(terms, 20_000)
    expected = np.flatnonzero(blend.share(running) >= COMMON).tolist()
    boilerplate, prepared = Boilerplate(blend), Boilerplate(blend)
    prepared.prepare()
    assert 0 < len(expected) < len(running)
    for _ in range(SEARCHES_OF_A_QUESTION + 2):
        assert sorted(boilerplate.find(running).tolist()) == expected
    assert sorted(prepared.find(running).tolist()) == expected
