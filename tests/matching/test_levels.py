"""Best partners and group scores equal slow plain loops, in one piece and in slices."""

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from longmatch.matching import levels
from longmatch.matching.chance import SIZES, interpolation
from longmatch.matching.levels import (
    SentenceVectors,
    best_partners,
    collection_partners,
    collection_scores,
    group_scores,
    partners_score,
)
from longmatch.ragged import offsets_of, segment_slices, unit_rows

LENGTHS = st.lists(st.integers(1, 5), min_size=1, max_size=6)
SEEDS = st.integers(0, 1000)


def vectors_of(count: int, seed: int) -> SentenceVectors:
    drawn = np.random.default_rng(seed)
    vectors = unit_rows(drawn.normal(size=(count, 6)).astype(np.float32))
    return SentenceVectors(vectors, np.sort(drawn.random((count, len(SIZES))).astype(np.float32), axis=1) / 2)


@contextmanager
def slices_of(size: int) -> Iterator[None]:
    """So many sentences of one document at a time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(levels, "SLICE", size)
        yield


def best_in(mine: SentenceVectors, i: int, other: SentenceVectors, among: range) -> tuple[int, float, float]:
    """The best partner of one sentence among some of the other's, its cosine, and the same corrected for chance."""
    cosines = [float(mine.vectors[i] @ other.vectors[j]) for j in among]
    best = max(range(len(cosines)), key=cosines.__getitem__)
    expected = float(mine.expectations[i] @ interpolation(np.array([len(among)]))[0])
    return among[best], cosines[best], (cosines[best] - expected) / (1 - expected)


def mean_best(mine: SentenceVectors, rows: range, other: SentenceVectors, among: range) -> float:
    return sum(best_in(mine, i, other, among)[2] for i in rows) / len(rows)


@given(st.integers(1, 12), st.integers(1, 12), SEEDS, st.sampled_from([1, 3, 1024]))
@settings(deadline=None)
def test_best_partners_equal_the_plain_loop(rows, columns, seed, size):
    a, b = vectors_of(rows, seed), vectors_of(columns, seed + 1)
    with slices_of(size):
        found = best_partners(a, b)
    for partners, mine, other in zip(found, (a, b), (b, a), strict=True):
        expected = [best_in(mine, i, other, range(len(other))) for i in range(len(mine))]
        assert partners.index.tolist() == [index for index, _, _ in expected]
        assert partners.cosine.tolist() == pytest.approx([cosine for _, cosine, _ in expected], abs=1e-5)
        assert partners.corrected.tolist() == pytest.approx([value for _, _, value in expected], abs=1e-5)


@given(LENGTHS, SEEDS, st.sampled_from([2, 1024]))
@settings(deadline=None)
def test_sentences_kept_apart_are_no_partners(lengths, seed, size):
    sentences = vectors_of(sum(lengths), seed)
    home = np.array([group for group, length in enumerate(lengths) for _ in range(length)])
    with slices_of(size):
        partners, _ = best_partners(sentences, sentences, apart=(home, home))
    for i, (j, cosine) in enumerate(zip(partners.index.tolist(), partners.cosine.tolist(), strict=True)):
        others = [
            float(sentences.vectors[i] @ sentences.vectors[k]) for k in range(len(sentences)) if home[k] != home[i]
        ]
        assert cosine == pytest.approx(max(others, default=-1.0), abs=1e-5)
        assert not others or home[i] != home[j]


@given(LENGTHS, LENGTHS, SEEDS, st.sampled_from([1, 4, 1024]))
@settings(deadline=None)
def test_group_scores_equal_the_plain_loop(mine, theirs, seed, size):
    a, b = vectors_of(sum(mine), seed), vectors_of(sum(theirs), seed + 1)
    a_offsets, b_offsets = offsets_of(np.array(mine)), offsets_of(np.array(theirs))
    with slices_of(size):
        found = group_scores(a, b, a_offsets, b_offsets)
    rows, columns = ([range(*run) for run in pairwise(offsets.tolist())] for offsets in (a_offsets, b_offsets))
    expected = [[(mean_best(a, r, b, c) + mean_best(b, c, a, r)) / 2 for c in columns] for r in rows]
    assert np.allclose(found, np.array(expected), atol=1e-5)


@given(st.integers(1, 6), LENGTHS, SEEDS, st.sampled_from([1, 20, 1 << 25]))
@settings(deadline=None)
def test_collection_scores_equal_the_plain_loop(size, lengths, seed, room):
    query, documents = vectors_of(size, seed), vectors_of(sum(lengths), seed + 1)
    offsets = offsets_of(np.array(lengths))
    everything = range(size)
    expected = [
        (mean_best(query, everything, documents, range(*run)) + mean_best(documents, range(*run), query, everything))
        / 2
        for run in pairwise(offsets.tolist())
    ]
    assert collection_scores(query, documents, offsets, room).tolist() == pytest.approx(expected, abs=1e-5)


@given(st.integers(1, 6), LENGTHS, SEEDS, st.sampled_from([1, 20, 1 << 25]))
@settings(deadline=None)
def test_partners_in_a_collection_are_those_in_each_document(size, lengths, seed, room):
    query, documents = vectors_of(size, seed), vectors_of(sum(lengths), seed + 1)
    offsets = offsets_of(np.array(lengths))
    found = collection_partners(query, documents, offsets, room)
    scores = collection_scores(query, documents, offsets).tolist()
    assert [partners_score(both) for both in found] == pytest.approx(scores, abs=1e-5)
    for both, (start, end) in zip(found, pairwise(offsets.tolist()), strict=True):
        alone = best_partners(query, SentenceVectors(documents.vectors[start:end], documents.expectations[start:end]))
        for partners, expected in zip(both, alone, strict=True):
            assert partners.index.tolist() == expected.index.tolist()
            assert partners.cosine.tolist() == pytest.approx(expected.cosine.tolist(), abs=1e-5)
            assert partners.corrected.tolist() == pytest.approx(expected.corrected.tolist(), abs=1e-5)


@given(LENGTHS, st.integers(1, 12))
def test_documents_are_taken_together_until_the_room_is_full(lengths, rows):
    offsets = offsets_of(np.array(lengths)).tolist()
    runs = list(segment_slices(offsets, rows))
    assert [first for first, _ in runs] == [0, *(last for _, last in runs)][:-1] and runs[-1][1] == len(lengths)
    assert all(last == first + 1 or offsets[last] - offsets[first] <= rows for first, last in runs)
