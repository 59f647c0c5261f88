"""A pool of views, the most representative first, and the part of it that each epoch reads."""

import math
from collections import Counter

import numpy as np
import pytest

from longmatch.documents.read import read_text_string
from longmatch.lab.encoders.checkpoint import open_tokenizer
from longmatch.lab.papers.sst.selection import (
    POOL,
    DirectClustering,
    ReorderedViews,
    SubtopicViews,
    sentence_likelihoods,
)
from longmatch.lab.words import TokenWords
from longmatch.units import tokenize
from tests.lab.papers.sst.test_selection import BIRD, RIVER, STONE

LIMIT, SEED = 30, 5


@pytest.fixture(scope="module")
def words(tiny_bert):
    return TokenWords.of(open_tokenizer(str(tiny_bert)).backend_tokenizer)


@pytest.fixture(scope="module")
def pair(tiny_bert):
    tokenizer = open_tokenizer(str(tiny_bert)).backend_tokenizer
    texts = (" ".join(RIVER * 8 + BIRD * 3 + STONE), " ".join(STONE * 7 + BIRD * 2 + RIVER))
    return [tokenize(read_text_string(text), tokenizer) for text in texts]


def reordered(words, width, epochs):
    return ReorderedViews(SubtopicViews(DirectClustering(words)), words, width, epochs)


def mean_log_likelihood(words, document, sentences):
    """The slow obvious version, word by word."""
    stream = words.words(document)
    counts = Counter(stream.ids.tolist())
    chosen = [word for s in sentences for word in stream.ids[stream.offsets[s] : stream.offsets[s + 1]].tolist()]
    return sum(math.log(counts[word] / len(stream.ids)) for word in chosen) / len(chosen)


def likelihood(words, pair, view):
    return sum(mean_log_likelihood(words, *side) for side in zip(pair, (view.a, view.b), strict=True))


def test_epochs_that_take_one_rank_each_read_the_pool_from_the_likeliest_view_on(words, pair):
    views = reordered(words, POOL, POOL)
    read = views.choose(*pair, LIMIT, range(POOL), SEED)
    found = [likelihood(words, pair, view) for view in read]
    assert found == pytest.approx(sorted(found, reverse=True)) and found[0] > found[-1]
    as_drawn = views.views.choose(*pair, LIMIT, range(POOL), SEED)
    assert sorted(map(str, read)) == sorted(map(str, as_drawn))


def test_the_parts_of_a_range_follow_each_other_and_none_is_empty(words):
    assert [reordered(words, 40, 4).part(epoch) for epoch in range(4)] == [(0, 10), (10, 20), (20, 30), (30, 40)]
    assert [reordered(words, 10, 10).part(epoch) for epoch in (0, 9, 12)] == [(0, 1), (9, 10), (9, 10)]
    assert [reordered(words, 2, 4).part(epoch) for epoch in range(4)] == [(0, 1), (0, 1), (1, 2), (1, 2)]


def test_an_epoch_reads_a_view_of_its_part_the_same_at_each_call(words, pair):
    ranked = reordered(words, POOL, POOL).choose(*pair, LIMIT, range(POOL), SEED)
    views = reordered(words, 20, 2)
    for epoch, allowed in ((0, ranked[:10]), (1, ranked[10:20])):
        (read,) = views.choose(*pair, LIMIT, [epoch], SEED)
        assert str(read) in map(str, allowed)
        assert str(read) == str(reordered(words, 20, 2).choose(*pair, LIMIT, [epoch], SEED)[0])


def test_a_sentence_of_frequent_words_is_likelier_and_one_without_words_counts_nothing(words, tiny_bert):
    tokenizer = open_tokenizer(str(tiny_bert)).backend_tokenizer
    document = tokenize(read_text_string("River river river. Tower. The of and. River tower."), tokenizer)
    logs, counts = sentence_likelihoods(words, document)
    assert counts.tolist() == [3, 1, 0, 2]
    np.testing.assert_allclose(logs, [3 * math.log(4 / 6), math.log(2 / 6), 0.0, math.log(4 / 6) + math.log(2 / 6)])
