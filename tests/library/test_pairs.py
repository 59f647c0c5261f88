"""Pairs and groups of near-duplicates, found without comparing everything with everything."""

from itertools import combinations
from pathlib import Path

import pytest

from longmatch.default.matcher import HybridMatcher
from longmatch.library.library import Library
from tests.library.tiny import made_up_text, write_texts


@pytest.fixture(scope="module")
def copies(tiny: HybridMatcher, tmp_path_factory: pytest.TempPathFactory) -> Library:
    """Forty documents; three are nearly the same, and two others are."""
    place = tmp_path_factory.mktemp("copies")
    folder, library = write_texts(place / "texts", range(40)), Library(place / "library", tiny)
    for name, number in (("copy-a", 3), ("copy-b", 3), ("copy-c", 8)):
        (folder / f"{name}.txt").write_text(made_up_text(number) + f" Added by {name} later on.")
    library.add(folder)
    return library


def test_near_duplicates_are_grouped(copies: Library) -> None:
    found = copies.pairs(minimum=0.98)
    assert found.groups == (("copy-a.txt", "copy-b.txt", "d003.txt"), ("copy-c.txt", "d008.txt"))
    assert found.pairs[0].score >= found.pairs[-1].score >= 0.98


def likeness_of_all(library: Library) -> dict[tuple[str, str], float]:
    """How alike any two documents are, every one compared with every other."""
    searcher, ids = library._searcher(), list(library)
    encodings = dict(zip(ids, searcher.encodings(ids), strict=True))
    compared = {(a, b): searcher.explain(encodings[a], encodings[b]) for a, b in combinations(ids, 2)}
    return {pair: float(found.calibration.likeness(found.similarities)[0]) for pair, found in compared.items()}


def test_every_pair_of_a_high_likeness_is_found_and_has_that_likeness(copies: Library) -> None:
    exact = likeness_of_all(copies)
    found = {(pair.a, pair.b): pair.score for pair in copies.pairs(minimum=0.5).pairs}
    assert {pair for pair, alike in exact.items() if alike >= 0.5} == found.keys() and found
    assert found == pytest.approx({pair: exact[pair] for pair in found}, abs=1e-6)


def test_where_few_belong_together_few_pairs_are_looked_at(library: Library, tmp_path: Path) -> None:
    folder = write_texts(tmp_path / "texts", range(100))
    (folder / "copy.txt").write_text(made_up_text(3) + " Added later on.")
    library.add(folder)
    found = library.pairs(minimum=0.97)
    assert [(pair.a, pair.b) for pair in found.pairs] == [("copy.txt", "d003.txt")]
    assert found.looked_at < 101 * 100 / 2 / 2


def test_a_document_with_many_copies_has_them_all(library: Library, tmp_path: Path) -> None:
    folder = write_texts(tmp_path / "texts", range(20))
    for number in range(30):  # more than are looked at first
        (folder / f"copy-{number:02}.txt").write_text(made_up_text(3) + f" Added as number {number} later on.")
    library.add(folder)
    found = library.pairs(minimum=0.99)
    assert len(found.pairs) == 31 * 30 / 2
    assert len(found.groups) == 1


def test_a_library_of_one_document_has_no_pairs(library: Library, tmp_path: Path) -> None:
    library.add(write_texts(tmp_path / "texts", range(1)))
    assert library.pairs(0.0).pairs == ()
