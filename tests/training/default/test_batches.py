"""Batches of the default's training."""

from itertools import islice

import numpy as np

from longmatch.training.default.batches import Shape, batches, sentences_of
from longmatch.training.default.material import Material

SPECIALS = (1, 2)
SHAPE = Shape(anchors=6, negatives=1, sentences=3, tokens=7)


def test_every_anchor_has_an_answer_in_the_batch_and_is_not_its_own(material: Material) -> None:
    for batch in islice(batches([material], SHAPE, SPECIALS, seed=0), 20):
        assert batch.answers.any(1).all()
        assert not batch.listed.diagonal().any()
        assert not (batch.answers & ~batch.listed).any()


def test_the_same_seed_draws_the_same_batches(material: Material) -> None:
    first, again, other = (list(islice(batches([material], SHAPE, SPECIALS, seed), 3)) for seed in (0, 0, 1))
    assert all(np.array_equal(a.ids, b.ids) for a, b in zip(first, again, strict=True))
    assert not all(np.array_equal(a.ids, b.ids) for a, b in zip(first, other, strict=True))


def test_sentences_stand_between_the_special_tokens_and_are_cut_to_the_width(material: Material) -> None:
    rng = np.random.default_rng(0)
    ids, mask, present = sentences_of(material, np.array([4, 9]), SHAPE, SPECIALS, rng)
    assert ids.shape == mask.shape == (6, 7)
    assert present.all()
    assert mask.all()
    assert (ids[:, 0] == 1).all()
    assert (ids[:, -1] == 2).all()
    own = material.tokens.reshape(-1, 6)[:, :5]
    held = {tuple(row) for row in own[4 * 5 : 5 * 5].tolist()}
    assert {tuple(row) for row in ids[:3, 1:-1].tolist()} <= held


def test_a_document_of_few_sentences_leaves_the_other_places_empty(material: Material) -> None:
    shape = Shape(sentences=8, tokens=10)
    ids, mask, present = sentences_of(material, np.array([0]), shape, SPECIALS, np.random.default_rng(0))
    assert present[0].tolist() == [True] * 5 + [False] * 3
    assert mask.any(1).all()  # no row without anything to attend to
    assert ids.shape == (8, 8)
