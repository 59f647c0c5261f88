"""Views of tokenised documents: from their subtopics, by a seed, and no more than may be read."""

import numpy as np
import pytest

from longmatch.documents.read import read_text_string
from longmatch.lab.encoders.checkpoint import open_tokenizer
from longmatch.lab.papers.sst.clustering import Clusters
from longmatch.lab.papers.sst.selection import DirectClustering, SubtopicViews, first_sentences
from longmatch.lab.words import TokenWords
from longmatch.units import tokenize

RIVER = ["The river rose over the bank.", "Water of the river stood in houses.", "The bank of the river broke."]
BIRD = ["A bird sings in the morning.", "The bird has a song of its own.", "Its song is the bird and the morning."]
STONE = ["Stones were cut for a tower.", "The tower was of stone.", "A wall of stone and a tower stood."]


class Counted:
    """The subtopic of a sentence is its number modulo 3; counts how often it was asked."""

    def __init__(self):
        self.asked = 0

    def clusters(self, a, b):
        self.asked += 1
        return Clusters(*(np.arange(len(t.sentence_offsets) - 1) % 3 for t in (a, b)), 3)

    def clusters_of_pairs(self, pairs):
        return [self.clusters(a, b) for a, b in pairs]

    def similarity(self, a, b):
        raise AssertionError("views need none")


@pytest.fixture(scope="module")
def tokenizer(tiny_bert):
    return open_tokenizer(str(tiny_bert)).backend_tokenizer


@pytest.fixture(scope="module")
def pair(tokenizer):
    return [tokenize(read_text_string(" ".join(t)), tokenizer) for t in (RIVER + BIRD, STONE + RIVER[::-1])]


@pytest.fixture(scope="module")
def long_pair(tokenizer):
    texts = (" ".join((RIVER + BIRD) * 10), " ".join((STONE + BIRD) * 8))
    return [tokenize(read_text_string(text), tokenizer) for text in texts]


def direct(tokenizer, **settings):
    return DirectClustering(TokenWords.of(tokenizer), **settings)


def sentences(chosen):
    return [(one.a.tolist(), one.b.tolist()) for one in chosen]


def tokens_in(tokens, numbers):
    return int(np.diff(tokens.sentence_offsets)[numbers].sum())


def test_sentences_of_both_documents_about_one_thing_come_together(tokenizer, pair):
    (found,) = direct(tokenizer, size=4.0).clusters_of_pairs([pair])
    assert len(set(found.a[:3]) | set(found.b[3:])) == 1  # the river, in either document
    assert not set(found.a[3:]) & set(found.b)


def test_a_hard_view_holds_the_common_subtopic_and_a_negative_one_the_others(tokenizer, pair):
    clustering = direct(tokenizer, size=4.0)
    limit = max(tokens_in(pair[0], [0, 1, 2]), tokens_in(pair[1], [3, 4, 5]))
    (hard,) = SubtopicViews(clustering, "hard").choose(*pair, limit, [0], 0)
    assert set(hard.a) >= {0, 1, 2} or set(hard.b) >= {3, 4, 5}
    assert set(hard.a) <= {0, 1, 2} or set(hard.b) <= {3, 4, 5}
    (other,) = SubtopicViews(clustering, "negative").choose(*pair, limit, [0], 0)
    assert other.a[-1] >= 3 and other.b[0] <= 2


@pytest.mark.parametrize("method", ["uniform", "hard", "soft", "negative", "random"])
def test_the_same_view_and_seed_give_the_same_sentences_whichever_others_are_asked_for(tokenizer, long_pair, method):
    def choose(views, seed):
        return sentences(SubtopicViews(direct(tokenizer), method).choose(*long_pair, 30, views, seed))

    assert choose([0, 1, 2], 7) == choose([0, 1, 2], 7) == [*choose([0], 7), *choose([1], 7), *choose([2], 7)]
    assert choose([2, 0], 7) == [choose([2], 7)[0], choose([0], 7)[0]]
    one, other = choose(range(6), 7), choose(range(6), 8)
    assert len(set(map(str, one))) > 1 and one != other


@pytest.mark.parametrize("method", ["uniform", "hard", "soft", "negative", "random"])
def test_a_view_keeps_the_reading_order_and_fits(tokenizer, long_pair, method):
    for view in SubtopicViews(direct(tokenizer), method).choose(*long_pair, 45, range(5), 0):
        for tokens, numbers in zip(long_pair, (view.a, view.b), strict=True):
            assert len(numbers) and (np.diff(numbers) > 0).all() and tokens_in(tokens, numbers) <= 45


@pytest.mark.parametrize("method", ["uniform", "soft", "random"])
@pytest.mark.parametrize("most", [5, 40, None])
def test_nothing_is_drawn_from_beyond_the_first_sentences(tokenizer, long_pair, method, most):
    views = SubtopicViews(direct(tokenizer, sentences=most), method, most).choose(*long_pair, 50, range(40), 0)
    last = [max(int(numbers[-1]) for numbers in side) for side in zip(*views, strict=True)]
    counts = [len(tokens.sentence_offsets) - 1 for tokens in long_pair]  # 60 and 48
    assert all(found < min(most or count, count) for found, count in zip(last, counts, strict=True))
    assert most == 5 or all(found > 30 for found in last)
    assert most is not None or last[0] > 40


def test_a_pair_is_clustered_once_for_all_views_and_epochs(pair):
    counted = Counted()
    views = SubtopicViews(counted, "soft")
    first = views.choose(*pair, 30, [0, 1, 2], 0)
    assert sentences(views.choose(*pair, 30, [0], 0)) == sentences(first[:1]) and counted.asked == 1
    views.choose(pair[1], pair[0], 30, [0], 0)
    views.choose(pair[0], first_sentences(pair[1], 3), 30, [0], 0)
    assert counted.asked == 3


def test_pairs_told_of_beforehand_are_clustered_together_and_once(pair):
    counted = Counted()
    views = SubtopicViews(counted, "soft")
    views.prepare([(pair[0], pair[1]), (pair[1], pair[0]), (pair[0], pair[1])])
    assert counted.asked == 2
    found = views.choose(*pair, 30, [0, 1], 0)
    assert counted.asked == 2 and sentences(found) == sentences(
        SubtopicViews(Counted(), "soft").choose(*pair, 30, [0, 1], 0)
    )
    SubtopicViews(counted, "random").prepare([(pair[0], pair[1])])
    assert counted.asked == 2


def test_only_so_many_pairs_are_remembered(pair, monkeypatch):
    monkeypatch.setattr("longmatch.lab.papers.sst.selection.CACHED_PAIRS", 1)
    counted = Counted()
    views = SubtopicViews(counted, "soft")
    for a, b in (pair, pair, pair[::-1], pair):
        views.clusters(a, b)
    assert counted.asked == 3


def test_random_views_ask_for_no_subtopics(pair):
    counted = Counted()
    SubtopicViews(counted, "random").choose(*pair, 30, [0], 0)
    assert counted.asked == 0


def test_the_first_sentences_are_a_document_that_ends_there(pair):
    cut = first_sentences(pair[0], 2)
    assert len(cut.sentence_offsets) == 3 and cut.ids.tolist() == pair[0].ids[: pair[0].sentence_offsets[2]].tolist()
    assert first_sentences(pair[0], None) is pair[0] and first_sentences(pair[0], 99) is pair[0]
