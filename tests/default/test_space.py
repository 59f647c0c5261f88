"""Where documents lie among those of their collection."""

import numpy as np
import pytest

from longmatch.default.space import Space
from longmatch.default.statistics import read_space, shipped_statistics, write_space
from longmatch.ragged import unit_rows


def drawn(documents: int, seed: int = 0) -> np.ndarray:
    """Vectors around a middle, which vary most in the first direction."""
    rng = np.random.default_rng(seed)
    return unit_rows(np.array([3.0, 2.0, 1.0, 0.0]) + rng.normal(size=(documents, 4)) * [2.0, 0.5, 0.5, 0.5])


def test_numbers_are_counted_from_their_mean_in_units_of_their_spread() -> None:
    vectors = drawn(50)
    space = Space.of(vectors)
    expected = (vectors - vectors.mean(0)) / vectors.std(0)
    assert np.allclose(space.place(vectors), unit_rows(expected), atol=1e-5)
    assert np.allclose(space.distances(vectors), np.linalg.norm(expected, axis=1), atol=1e-4)


def test_the_cosines_of_unrelated_documents_are_0_on_average() -> None:
    vectors = drawn(400)
    placed = Space.of(vectors).place(vectors)
    first, second = np.triu_indices(len(vectors), 1)
    assert abs((placed[first] * placed[second]).sum(1).mean()) < 0.05
    assert (vectors[first] * vectors[second]).sum(1).mean() > 0.5


def test_two_documents_are_seen_from_what_is_general_and_many_from_their_own_middle() -> None:
    general = Space(np.full(4, 0.1), np.array([0.1, 0.1, 0.1, 0.5]))
    two, few, many = (Space.of(drawn(count), general) for count in (2, 4, 2_000))
    assert two is general
    mean, unsure = drawn(4).mean(0), drawn(4).var(0).sum() / 2
    share = unsure / (unsure + ((mean - 0.1) ** 2).sum())
    assert few.centre == pytest.approx((1 - share) * mean + share * 0.1, abs=1e-6)
    assert many.centre == pytest.approx(drawn(2_000).mean(0), abs=0.01)
    assert many.spread == pytest.approx(drawn(2_000).std(0), rel=0.03)


def test_a_collection_far_from_what_is_general_is_seen_from_its_middle() -> None:
    far = unit_rows(10 + drawn(40))
    placed = Space.of(far, Space(np.full(4, -0.5), np.full(4, 0.3))).place(far)
    first, second = np.triu_indices(len(far), 1)
    assert abs(np.median((placed[first] * placed[second]).sum(1))) < 0.3


def test_a_document_without_words_lies_nowhere_and_moves_nothing() -> None:
    vectors = drawn(10)
    more = np.concatenate([vectors, np.zeros((1, 4))])
    space = Space.of(more)
    assert np.array_equal(space.centre, Space.of(vectors).centre)
    assert not space.place(more)[-1].any()
    assert np.array_equal(Space.of(np.zeros((2, 4))).spread, np.ones(4))


def test_directions_give_the_cosines() -> None:
    vectors, space = drawn(20), Space.of(drawn(50, seed=1))
    across, starts = space.directions(vectors[:3])
    found = (vectors @ across.T + starts) / space.distances(vectors)[:, None]
    assert np.allclose(found, space.place(vectors) @ space.place(vectors[:3]).T, atol=1e-5)


def test_kinds_count_alike_and_what_tells_them_apart_is_no_spread() -> None:
    found = Space.mean([Space(np.array([0.0]), np.array([0.3])), Space(np.array([1.0]), np.array([0.4]))])
    assert found.centre.tolist() == [0.5] and found.spread == pytest.approx([(0.125) ** 0.5])


def test_the_shipped_one_comes_back_from_disk(tmp_path) -> None:
    shipped = shipped_statistics().space
    write_space(shipped, tmp_path / "space.safetensors")
    again = read_space(tmp_path / "space.safetensors")
    assert np.array_equal(again.centre, shipped.centre) and np.array_equal(again.spread, shipped.spread)
    assert (shipped.spread > 0).all() and shipped.centre.any()
