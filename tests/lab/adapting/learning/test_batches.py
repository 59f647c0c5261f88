"""Batches of the default's training."""

from dataclasses import replace
from itertools import islice

import numpy as np

from longmatch.lab.adapting.learning.batches import Drawn, Shape, batches, laid_out, pieces, some_sentences
from longmatch.lab.adapting.learning.material import Ints, Material

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
    numbers = some_sentences(material, np.array([4, 9]), 3, np.random.default_rng(0))
    ids, mask = laid_out(pieces(material.tokens, material.sentences, numbers.ravel()), 7, SPECIALS)
    assert ids.shape == mask.shape == (6, 7)
    assert mask.all()
    assert (ids[:, 0] == 1).all()
    assert (ids[:, -1] == 2).all()
    assert ids[:, 1:-1].tolist() == material.tokens.reshape(-1, 6)[numbers.ravel(), :5].tolist()


def test_some_sentences_are_of_the_document_in_their_order(material: Material) -> None:
    numbers = some_sentences(material, np.array([4, 9]), 3, np.random.default_rng(0))
    assert (numbers // 5).tolist() == [[4] * 3, [9] * 3]
    assert (np.diff(numbers) > 0).all()


def test_a_document_of_few_sentences_leaves_the_other_places_empty(material: Material) -> None:
    numbers = some_sentences(material, np.array([0]), 8, np.random.default_rng(0))
    assert numbers.tolist() == [[0, 1, 2, 3, 4, -1, -1, -1]]
    ids, mask = laid_out(pieces(material.tokens, material.sentences, numbers.ravel()), 10, SPECIALS)
    assert mask.sum(1).tolist() == [8] * 5 + [1] * 3  # no row without anything to attend to
    assert ids.shape == (8, 8)


def test_titles_and_telling_sentences_are_further_rows(titled: Material) -> None:
    shape = replace(SHAPE, telling=2)
    for batch in islice(batches([titled], shape, SPECIALS, seed=0), 5):
        sentences, telling, titles = split_rows(batch)
        assert len(sentences) == batch.present.size
        assert telling.reshape(6, 2, -1)[~batch.telling].sum() == 0
        assert {tuple(row[:3]) for row in titles.tolist()} <= {
            tuple(row) for row in titled.title_tokens.reshape(-1, 3).tolist()
        }
        assert batch.trust == 0.5


def test_an_anchors_citing_sentence_is_in_the_batch(titled: Material) -> None:
    for batch in islice(batches([titled], replace(SHAPE, telling=1), SPECIALS, seed=0), 10):
        sentences, telling, _ = split_rows(batch)
        drawn = sentences.reshape(*batch.present.shape, -1)[: len(batch.telling)]
        rare = (drawn >= 10) & (drawn < 40)
        told = (telling >= 10) & (telling < 40)
        answered = (batch.answers & batch.titled).any(1)
        assert (rare.any((1, 2)) | told.any(1))[answered].all()


def test_where_titles_say_nothing_batches_are_as_without_titles(titled: Material) -> None:
    bare = replace(titled, title_tokens=titled.title_tokens[:0], titles=np.zeros_like(titled.titles))
    distrusted = replace(titled, trust=0.0)
    for batch, other in zip(*(islice(batches([m], SHAPE, SPECIALS, 0), 5) for m in (bare, distrusted)), strict=True):
        assert len(batch.ids) == batch.present.size
        assert batch.telling.shape == (6, 0)
        assert not batch.titled.any()
        assert np.array_equal(batch.ids, other.ids)


def test_titles_change_nothing_of_what_else_is_drawn(titled: Material) -> None:
    distrusted = replace(titled, trust=0.0)
    for batch, other in zip(*(islice(batches([m], SHAPE, SPECIALS, 0), 5) for m in (titled, distrusted)), strict=True):
        assert np.array_equal(split_rows(batch)[0], split_rows(other)[0])
        assert np.array_equal(batch.answers, other.answers)


def split_rows(batch: Drawn) -> list[Ints]:
    """The rows of sentences, of telling sentences and of titles, without special tokens, as wide as the widest."""
    inner = np.where(batch.ids > 2, batch.ids, 0)[:, 1:]
    return np.split(inner, np.cumsum([batch.present.size, batch.telling.size]))
