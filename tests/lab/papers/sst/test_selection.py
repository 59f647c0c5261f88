"""Views of tokenised documents: from their subtopics, by a seed, and no more than may be read."""

import numpy as np
import pytest

from longmatch.documents.read import read_text_string
from longmatch.lab.encoders.checkpoint import open_tokenizer
from longmatch.lab.papers.sst.clustering import Clusters
from longmatch.lab.papers.sst.selection import DirectClustering, SubtopicViews, draw_view
from longmatch.lab.words import TokenWords
from longmatch.units import tokenize

RIVER = ["The river rose over the bank.", "Water of the river stood in houses.", "The bank of the river broke."]
BIRD = ["A bird sings in the morning.", "The bird has a song of its own.", "Its song is the bird and the morning."]
STONE = ["Stones were cut for a tower.", "The tower was of stone.", "A wall of stone and a tower stood."]
# Eight sentences each: cluster 0 and 1 shared, 2 only in a, 3 only in b.
A = [0, 0, 2, 0, 1, 2, 1, 0]
B = [1, 3, 1, 0, 1, 3, 1, 0]
PAIR = Clusters.of(A + B, 8)
IDS = ("left", "right")


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
    views.choose(pair[0], pair[1].truncated(int(pair[1].sentence_offsets[3])), 30, [0], 0)
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


def drawn(method, number, clusters=PAIR, seed=0, sentences=3, ids=IDS):
    """A view of so many sentences: each is one token long."""
    lengths = tuple(np.ones(len(labels), dtype=np.int64) for labels in clusters.sides)
    return draw_view(method, clusters, ids, number, lengths, sentences, seed)


def test_sizes_shares_and_alignment_worked_by_hand():
    assert [s.tolist() for s in PAIR.sizes] == [[4, 2, 2, 0], [2, 4, 0, 2]]
    assert [s.tolist() for s in PAIR.shares] == [[0.5, 0.25, 0.25, 0], [0.25, 0.5, 0, 0.25]]
    assert PAIR.common.tolist() == [2, 2, 0, 0] and PAIR.alignment.tolist() == [0.5, 0.5, 0, 0]
    assert PAIR.aligned.tolist() == [True, True, False, False] and PAIR.primary == 0


def test_equation_9_worked_by_hand():
    # a: (1/2 1/2 0 0) * (1/2 1/4 1/4 0) = (1/4 1/8 0 0), over 3/8; b: (1/2 1/2 0 0) * (1/4 1/2 0 1/4), over 3/8
    np.testing.assert_allclose(PAIR.soft, [[2 / 3, 1 / 3, 0, 0], [1 / 3, 2 / 3, 0, 0]])
    # sizes (3 1 2), (1 3 1): common (1 1 1), so Q is each one's own share
    np.testing.assert_allclose(
        Clusters.of([0, 0, 0, 1, 2, 2, 0, 1, 1, 1, 2], 6).soft, [[1 / 2, 1 / 6, 1 / 3], [0.2, 0.6, 0.2]]
    )


def test_of_a_soft_assignment_a_sentence_goes_to_its_likeliest_cluster_and_empty_clusters_count():
    soft = np.array([[0.7, 0.2, 0.1, 0.0], [0.1, 0.2, 0.7, 0.0], [0.4, 0.4, 0.2, 0.0]])
    pair = Clusters.of(soft, 2)
    assert (pair.a.tolist(), pair.b.tolist(), pair.count) == ([0, 2], [0], 4)


def test_many_soft_draws_follow_equation_9():
    firsts = np.array([[A[v.a[0]], B[v.b[0]]] for v in (drawn("soft", n, sentences=1) for n in range(6000))])
    for side in (0, 1):
        found = np.bincount(firsts[:, side], minlength=4) / len(firsts)
        np.testing.assert_allclose(found, PAIR.soft[side], atol=0.025)  # four standard errors


def test_many_uniform_draws_take_every_cluster_of_the_document_alike():
    firsts = np.array([[A[v.a[0]], B[v.b[0]]] for v in (drawn("uniform", n, sentences=1) for n in range(6000))])
    np.testing.assert_allclose(np.bincount(firsts[:, 0], minlength=4) / 6000, [1 / 3, 1 / 3, 1 / 3, 0], atol=0.025)
    np.testing.assert_allclose(np.bincount(firsts[:, 1], minlength=4) / 6000, [1 / 3, 1 / 3, 0, 1 / 3], atol=0.025)


def test_within_a_cluster_every_sentence_is_as_likely():
    views = [drawn("hard", n, sentences=1) for n in range(4000)]
    np.testing.assert_allclose(
        np.bincount([v.a[0] for v in views], minlength=8) / 4000, np.array([1, 1, 0, 1, 0, 0, 0, 1]) / 4, atol=0.03
    )


def test_a_cluster_that_is_used_up_is_off_the_wheel():
    # Two sentences of b from Q = (1/3, 2/3): cluster 0 twice 1/9, so once 1 - 1/9 - 4/9, since clusters hold 2 and 4.
    views = [drawn("soft", n, sentences=2) for n in range(6000)]
    zeros = np.bincount([sum(B[s] == 0 for s in v.b) for v in views], minlength=3) / 6000
    np.testing.assert_allclose(zeros, [4 / 9, 4 / 9, 1 / 9], atol=0.025)
    # Six: all of the aligned ones. Eight: filled up with the rest.
    assert all({B[s] for s in drawn("soft", n, sentences=6).b} == {0, 1} for n in range(20))
    assert drawn("soft", 0, sentences=8).b.tolist() == list(range(8))


def test_a_hard_view_is_the_largest_aligned_cluster_filled_up_from_the_others():
    for number in range(20):
        view = drawn("hard", number, sentences=3)
        assert {A[s] for s in view.a} == {0} and sum(B[s] == 0 for s in view.b) == 2 and len(view.b) == 3


def test_a_negative_view_leaves_the_largest_aligned_cluster_to_the_last():
    pair = Clusters.of([0, 0, 0, 1, 1, 2, 0, 0, 0, 1, 3, 3], 6)
    for number in range(20):
        view = drawn("negative", number, pair, sentences=3)
        assert sorted(pair.a[view.a].tolist()) == [1, 1, 2] and sorted(pair.b[view.b].tolist()) == [1, 3, 3]


def test_a_random_view_is_a_run_of_sentences_from_anywhere():
    views = [drawn("random", n, sentences=3).a for n in range(300)]
    assert all((np.diff(v) == 1).all() and len(v) == 3 for v in views)
    assert {int(v[0]) for v in views} == set(range(6))


def test_a_random_view_bounded_by_tokens_does_not_begin_too_late_to_fill_it():
    lengths = (np.full(8, 10), np.full(8, 10))
    views = [draw_view("random", PAIR, IDS, n, lengths, 35).a for n in range(200)]
    assert {len(v) for v in views} == {3} and {int(v[0]) for v in views} == set(range(5))


@pytest.mark.parametrize("method", ["uniform", "hard", "soft", "negative", "random"])
def test_views_are_in_reading_order_without_repetition_and_as_long_as_they_can_be(method):
    for number in range(10):
        for count in (1, 5, 8, 30):
            view = drawn(method, number, sentences=count)
            for side in (view.a, view.b):
                assert len(side) == min(count, 8) and (np.diff(side) > 0).all()


@pytest.mark.parametrize("method", ["uniform", "hard", "soft", "random"])
def test_the_same_seed_gives_the_same_views_and_another_seed_others(method):
    def views(seed, numbers):
        return {n: (v.a.tolist(), v.b.tolist()) for n in numbers for v in [drawn(method, n, seed=seed, sentences=3)]}

    once = views(0, range(10))
    assert views(0, reversed(range(10))) == once  # whatever was drawn before
    other = views(1, range(10))
    assert sum(once[n] != other[n] for n in once) >= 7
    assert len({str(v) for v in once.values()}) >= 5  # and view t is not view u


def test_views_of_other_documents_are_others():
    here, there = ([drawn("soft", n, ids=ids).a.tolist() for n in range(10)] for ids in (IDS, ("left", "third")))
    assert here != there


def test_a_view_bounded_by_tokens_holds_what_fits_and_one_sentence_at_least():
    lengths = (np.array([5, 30, 8, 9, 7, 50, 6, 5]), np.full(8, 400))
    for number in range(30):
        view = draw_view("soft", PAIR, IDS, number, lengths, 40)
        assert len(view.b) == 1
        assert len(view.a) == 1 or lengths[0][view.a].sum() <= 40
    assert len(draw_view("soft", PAIR, IDS, 0, lengths, 10_000).a) == 8


def test_documents_that_share_no_cluster_are_sampled_by_their_own():
    apart = Clusters.of([0, 0, 0, 1, 2, 2, 3], 4)
    assert apart.primary is None
    np.testing.assert_allclose(apart.soft[0], [0.75, 0.25, 0, 0])
    for method in ("uniform", "hard", "soft", "negative"):
        assert len(drawn(method, 0, apart, sentences=2).b) == 2


@pytest.mark.parametrize("method", ["uniform", "hard", "soft", "negative", "random"])
def test_a_document_without_sentences_has_an_empty_view(method):
    view = drawn(method, 0, Clusters.of([0, 0, 1], 3), sentences=2)
    assert len(view.a) == 2 and len(view.b) == 0
    assert len(drawn(method, 0, Clusters.of([], 0), sentences=2).a) == 0
