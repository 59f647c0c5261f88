"""SDR's equations 4 to 6 as plain loops, and worked by hand, against the product and reductions."""

from statistics import fmean, pstdev

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from longmatch.models.sdr import score
from longmatch.models.sdr.score import Paragraphs, directional_scores, sdr_scores, split, symmetric_scores
from longmatch.ragged import offsets_of, unit_rows

Document = list[list[np.ndarray]]  # paragraphs of sentence vectors

SHAPES = st.lists(st.integers(1, 4), min_size=1, max_size=4)  # sentences in each paragraph
COLLECTIONS = st.lists(SHAPES, min_size=1, max_size=5)
SEEDS = st.integers(0, 1000)


def drawn(shape: list[int], generator: np.random.Generator) -> Document:
    vectors = unit_rows(generator.normal(size=(sum(shape), 5)).astype(np.float32))
    return [list(part) for part in np.split(vectors, np.cumsum(shape)[:-1])]


def flat(document: Document) -> Paragraphs:
    return Paragraphs.of(np.stack([s for p in document for s in p]), offsets_of(np.array([*map(len, document)])))


def plain_paragraph(source: list[np.ndarray], candidate: list[np.ndarray]) -> float:
    """Equations 4 and 5: the mean over sentences of their best cosine."""
    return fmean(max(float(s @ c) for c in candidate) for s in source)


def plain_scores(source: Document, candidates: list[Document], others: list[Document], normalise: bool) -> list[float]:
    """Equation 6: every row normalised over the paragraphs of all `others`, then the mean of the best."""
    totals = [0.0] * len(candidates)
    for paragraph in source:
        row = [plain_paragraph(paragraph, p) for other in others for p in other]
        mean, deviation = (fmean(row), max(pstdev(row), 1e-9)) if normalise else (0.0, 1.0)
        for number, candidate in enumerate(candidates):
            best = max((plain_paragraph(paragraph, p) - mean) / deviation for p in candidate)
            totals[number] += best / len(source)
    return totals


def distinct(shapes: list[list[int]]) -> bool:
    """With a single paragraph among all candidates the deviation is 0 and the score undefined."""
    return sum(map(len, shapes)) > 1


@given(SHAPES, COLLECTIONS.filter(distinct), SEEDS, st.booleans(), st.sampled_from([1, 12, 1 << 25]))
@settings(deadline=None)
def test_scores_equal_the_plain_loops(shape, shapes, seed, normalise, cells):
    generator = np.random.default_rng(seed)
    source, candidates = drawn(shape, generator), [drawn(s, generator) for s in shapes]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(score, "CPU_CELLS", cells)
        found = sdr_scores(flat(source), Paragraphs.join([flat(c) for c in candidates]), normalise)
    expected = plain_scores(source, candidates, candidates, normalise)
    paragraphs = [p for candidate in candidates for p in candidate]
    spreads = [np.std([plain_paragraph(mine, p) for p in paragraphs]) for mine in source] if normalise else []
    rounding = 1e-6 / max(1e-9, min([0.1, *spreads]))  # of a cosine, divided by the deviation
    assert found.tolist() == pytest.approx(expected, abs=rounding, rel=1e-5)


@given(SHAPES, COLLECTIONS, SEEDS)
@settings(deadline=None)
def test_symmetric_scores_equal_the_plain_loops_over_the_background(shape, shapes, seed):
    generator = np.random.default_rng(seed)
    source, candidates = drawn(shape, generator), [drawn(s, generator) for s in shapes]
    background = drawn([1] * 20, generator)
    found = symmetric_scores(flat(source), Paragraphs.join([flat(c) for c in candidates]), flat(background))
    expected = [
        (plain_scores(source, [c], [background], True)[0] + plain_scores(c, [source], [background], True)[0]) / 2
        for c in candidates
    ]
    assert found.tolist() == pytest.approx(expected, abs=1e-4, rel=1e-5)


@given(SHAPES, SHAPES, SEEDS)
@settings(deadline=None)
def test_the_symmetric_score_is_the_same_from_either_side(mine, theirs, seed):
    generator = np.random.default_rng(seed)
    a, b, background = (flat(drawn(s, generator)) for s in (mine, theirs, [1] * 10))
    there, back = symmetric_scores(a, b, background), symmetric_scores(b, a, background)
    assert there[0] == pytest.approx(back[0], abs=1e-5)


EAST, NORTH, BETWEEN = np.array([1.0, 0.0]), np.array([0.0, 1.0]), np.array([0.6, 0.8])


def test_two_documents_worked_by_hand():
    # One source paragraph: a sentence pointing east, one pointing north.
    # P with [between]: mean(.6, .8) = .7; with [east]: mean(1, 0) = .5; with [east, north]: mean(1, 1) = 1.
    source = flat([[EAST, NORTH]])
    first, second = [[BETWEEN], [EAST]], [[EAST, NORTH]]
    candidates = Paragraphs.join([flat(first), flat(second)])
    assert sdr_scores(source, candidates, normalise=False).tolist() == pytest.approx([0.7, 1.0])
    # Over all three paragraphs: mean 11/15, deviation sqrt(((1/30)^2 + (7/30)^2 + (8/30)^2) / 3) = sqrt(114/2700).
    deviation = (114 / 2700) ** 0.5
    assert sdr_scores(source, candidates).tolist() == pytest.approx([(-1 / 30) / deviation, (8 / 30) / deviation])


def test_the_score_is_directional():
    one, two = flat([[EAST]]), flat([[EAST, NORTH]])
    assert sdr_scores(one, two, normalise=False).tolist() == [1.0]  # all of it is found in the other
    assert sdr_scores(two, one, normalise=False).tolist() == [0.5]  # half of it is not


def test_a_lone_pair_is_normalised_over_the_background():
    background = flat([[EAST], [NORTH]])  # cosines with east: 1 and 0, mean 1/2, deviation 1/2
    assert directional_scores(flat([[EAST]]), flat([[BETWEEN]]), background).tolist() == pytest.approx([0.2])


def test_joined_documents_come_apart_again():
    parts = [flat([[EAST], [NORTH, BETWEEN]]), flat([[BETWEEN]])]
    for part, again in zip(parts, split(Paragraphs.join(parts)), strict=True):
        assert np.array_equal(part.vectors, again.vectors)
        assert np.array_equal(part.paragraphs, again.paragraphs) and np.array_equal(part.documents, again.documents)
