"""Which sentences share what makes two documents alike."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from longmatch.lexical import links
from longmatch.lexical.links import RatedTerms, SharedTerms, link_pair, link_sentences, shared_weight
from longmatch.lexical.terms import Stream
from longmatch.lexical.weights import Frequencies, tfidf
from longmatch.ragged import offsets_of

DOCUMENTS = st.lists(st.lists(st.integers(1, 8), max_size=5), min_size=1, max_size=5)
SENTENCES = st.lists(st.lists(st.integers(0, 9), max_size=6), min_size=1, max_size=5)


def stream_of(sentences: list[list[int]]) -> Stream:
    ids = np.array([word for sentence in sentences for word in sentence], dtype=np.uint64)
    return Stream(ids, np.cumsum([0, *map(len, sentences)]))


def linked(a: list[list[int]], b: list[list[int]]) -> SharedTerms:
    mine, theirs = stream_of(a), stream_of(b)
    return link_pair(RatedTerms.of(mine, Frequencies.of([mine.counts, theirs.counts])), theirs)


@given(DOCUMENTS, DOCUMENTS)
def test_a_shared_term_carries_its_part_of_the_cosine(a, b):
    mine, theirs = stream_of(a).counts, stream_of(b).counts
    weights = [tfidf(counts, Frequencies.of([mine, theirs])) for counts in (mine, theirs)]
    x, y = (dict(zip(w.ids.tolist(), w.values.tolist(), strict=True)) for w in weights)
    expected = {term: x[term] * y[term] for term in sorted(x.keys() & y.keys())}
    (shared,) = linked(a, b).kinds
    assert shared.ids.tolist() == list(expected)
    assert shared.mass.tolist() == pytest.approx([value / sum(expected.values()) for value in expected.values()])


@given(DOCUMENTS, DOCUMENTS)
def test_sentences_carry_the_whole_similarity_by_their_share_of_each_shared_term(a, b):
    found = linked(a, b)
    mass = dict(zip(found.kinds[0].ids.tolist(), found.kinds[0].mass.tolist(), strict=True))
    for sentences, links_ in ((a, found.forward), (b, found.backward)):
        everything = [word for sentence in sentences for word in sentence]
        plain = [sum(mass.get(w, 0.0) / everything.count(w) for w in sentence) for sentence in sentences]
        assert links_.mass.tolist() == pytest.approx(plain)
        assert links_.mass.sum() == pytest.approx(sum(mass.values()))


@pytest.mark.parametrize("cells", [1, 12, links.DENSE])
@given(DOCUMENTS, st.lists(DOCUMENTS, min_size=1, max_size=4))
def test_documents_linked_together_are_linked_as_each_alone(cells, a, others):
    mine, streams = stream_of(a), [stream_of(b) for b in others]
    rated = RatedTerms.of(mine, Frequencies.of([stream.counts for stream in (mine, *streams)]))
    offsets = offsets_of(np.array([len(b) for b in others]))
    worth = np.linspace(0, 2, len(others))[:, None]  # terms may be worth nothing
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(links, "DENSE", cells)
        together = link_sentences([rated], [Stream.cat(streams)], offsets, worth)
    for stream, value, found in zip(streams, worth[:, 0].tolist(), together, strict=True):
        alone = link_pair(rated, stream)
        assert found.kinds[0].ids.tolist() == alone.kinds[0].ids.tolist()
        assert found.kinds[0].mass.tolist() == pytest.approx(alone.kinds[0].mass.tolist())
        for mine_, theirs in ((found.forward, alone.forward), (found.backward, alone.backward)):
            assert mine_.mass.tolist() == pytest.approx((value * theirs.mass).tolist())
            partner = theirs.partner if value else np.full_like(theirs.partner, -1)
            assert mine_.partner.tolist() == partner.tolist()


@given(DOCUMENTS, DOCUMENTS)
def test_a_partner_shares_a_term_and_there_is_none_where_nothing_is_shared(a, b):
    shared = linked(a, b)
    for sentences, others, found in ((a, b, shared.forward), (b, a, shared.backward)):
        for sentence, partner in zip(sentences, found.partner.tolist(), strict=True):
            answers = [i for i, other in enumerate(others) if set(other) & set(sentence)]
            assert partner in answers if answers else partner == -1


def test_the_partner_is_the_sentence_that_shares_most():
    shared = linked([[1, 2, 3], [4]], [[1], [2, 3], [4, 1]])
    assert shared.forward.partner.tolist() == [1, 2]
    assert shared.backward.partner.tolist() == [0, 0, 1]


def test_the_commonest_terms_go_first_where_there_are_too_many_pairs(monkeypatch):
    monkeypatch.setattr(links, "PAIRS", 4)
    shared = linked([[1, 2], [1], [1]], [[1], [1], [2]])  # term 1 links nine pairs, term 2 one
    assert shared.forward.partner.tolist() == [2, -1, -1]


def stream(sentences: list[list[int]]) -> Stream:
    lengths = np.array([len(sentence) for sentence in sentences], dtype=np.int64)
    return Stream(np.array([term for sentence in sentences for term in sentence], dtype=np.uint64), offsets_of(lengths))


@given(SENTENCES, SENTENCES, st.sets(st.integers(0, 9)))
def test_the_weight_that_sentences_share_is_that_of_their_distinct_common_terms(mine, theirs, weighed):
    i, j = (grid.ravel() for grid in np.indices((len(mine), len(theirs))))
    terms = np.array(sorted(weighed), dtype=np.uint64)
    found = shared_weight(stream(mine), stream(theirs), i, j, terms, terms + 0.5)
    slow = [sum(term + 0.5 for term in {*mine[x]} & {*theirs[y]} & weighed) for x, y in zip(i, j, strict=True)]
    assert found.tolist() == slow
