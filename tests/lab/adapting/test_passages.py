"""The halves of documents, and batches of them."""

from itertools import islice

import numpy as np
import pytest

from longmatch.lab.adapting.passages import BatchShape, Halves, TokenizedText, batches, halves, pad
from longmatch.lexical.terms import Stream, Terms

SPECIALS = (1, 2)
SHAPE = BatchShape(anchors=6, sentences=3, tokens=7)


def text_of(first: int, sentences: int) -> TokenizedText:
    """Sentence s has the tokens first + s, twice, and the word of that number."""
    tokens = [np.array([first + s, first + s]) for s in range(sentences)]
    words = Stream(np.arange(first, first + sentences, dtype=np.uint64), np.arange(sentences + 1))
    return TokenizedText(tokens, np.arange(sentences) // 2, Terms(words))


def test_halves_share_no_sentence_and_leave_none_out() -> None:
    for paragraphs in ([0] * 20, [0] * 9 + [1] * 2, [0, 1, 2, 3, 3, 3, 4], list(range(5, 17))):
        a, b = halves(np.array(paragraphs))
        assert sorted([*a.tolist(), *b.tolist()]) == list(range(len(paragraphs)))
        assert len(a) and len(b)


def test_a_long_paragraph_alone_is_cut_into_runs() -> None:
    a, b = halves(np.zeros(16, dtype=np.int64))
    assert a.tolist() == [0, 1, 4, 5, 8, 9, 12, 13]
    assert len(b) == 8


def test_a_part_has_the_tokens_and_words_of_its_sentences() -> None:
    part = text_of(10, 6).part(np.array([1, 4]))
    assert [tokens.tolist() for tokens in part.tokens] == [[11, 11], [14, 14]]
    assert part.terms.words.ids.tolist() == [11, 14]
    assert part.terms.words.offsets.tolist() == [0, 1, 2]
    assert part.paragraph.tolist() == [0, 2]


def test_halves_lie_end_to_end_two_for_each_document() -> None:
    found = Halves.of([text_of(0, 8), text_of(20, 12)])
    assert len(found) == 4
    tokens = [set(found.tokens[slice(*found.sentences[found.offsets[h : h + 2]])].tolist()) for h in range(4)]
    assert tokens[0] == {0, 1, 4, 5} and tokens[1] == {2, 3, 6, 7}
    assert tokens[2] | tokens[3] == set(range(20, 32))


def test_every_anchor_has_its_other_half_in_the_batch_as_the_only_answer(paired: Halves) -> None:
    for batch in islice(batches(paired, SHAPE, SPECIALS, seed=0), 20):
        assert (batch.answers.sum(1) == 1).all()
        assert not batch.listed.diagonal().any() and batch.listed.sum() == batch.listed.size - 6
        assert not (batch.answers & ~batch.listed).any()
        pairs = (batch.ids[:, 1].reshape(batch.present.shape) - 10) // 4  # the tokens of a pair of halves
        for anchor, other in np.argwhere(batch.answers):
            assert set(pairs[anchor].tolist()) == set(pairs[other].tolist())


@pytest.fixture
def paired() -> Halves:
    """Of document k the tokens 10 + 4k to 13 + 4k; its halves have five sentences of six tokens."""
    rng = np.random.default_rng(0)
    tokens = 10 + 4 * np.repeat(np.arange(12), 60) + rng.integers(0, 4, 720)
    return Halves(tokens.astype(np.int32), np.arange(0, 721, 6), np.arange(0, 121, 5))


def test_the_same_seed_draws_the_same_batches(paired: Halves) -> None:
    first, again, other = (list(islice(batches(paired, SHAPE, SPECIALS, seed), 3)) for seed in (0, 0, 1))
    assert all(np.array_equal(a.ids, b.ids) for a, b in zip(first, again, strict=True))
    assert not all(np.array_equal(a.ids, b.ids) for a, b in zip(first, other, strict=True))


def test_sentences_stand_between_the_special_tokens_and_are_cut_to_the_width(paired: Halves) -> None:
    numbers = paired.sample_sentences(np.array([4, 9]), 3, np.random.default_rng(0))
    ids, mask = pad([paired.sentence(number) for number in numbers.ravel()], 7, SPECIALS)
    assert ids.shape == mask.shape == (6, 7)
    assert mask.all()
    assert (ids[:, 0] == 1).all()
    assert (ids[:, -1] == 2).all()
    assert ids[:, 1:-1].tolist() == paired.tokens.reshape(-1, 6)[numbers.ravel(), :5].tolist()


def test_sampled_sentences_are_of_the_half_in_their_order(paired: Halves) -> None:
    numbers = paired.sample_sentences(np.array([4, 9]), 3, np.random.default_rng(0))
    assert (numbers // 5).tolist() == [[4] * 3, [9] * 3]
    assert (np.diff(numbers) > 0).all()


def test_a_half_of_few_sentences_leaves_the_other_places_empty(paired: Halves) -> None:
    numbers = paired.sample_sentences(np.array([0]), 8, np.random.default_rng(0))
    assert numbers.tolist() == [[0, 1, 2, 3, 4, -1, -1, -1]]
    ids, mask = pad([paired.sentence(number) for number in numbers.ravel()], 10, SPECIALS)
    assert mask.sum(1).tolist() == [8] * 5 + [1] * 3  # no row without anything to attend to
    assert ids.shape == (8, 8)
