"""Segments merged in any order hold what their documents hold."""

import random
from pathlib import Path

import numpy as np
import pytest

from longmatch.default.matcher import HybridMatcher
from longmatch.lexical.terms import KINDS
from longmatch.lexical.weights import Frequencies
from longmatch.library.index.index import Index
from longmatch.library.library import Library
from longmatch.library.rows import INDEX_COLUMNS, DocumentRow
from longmatch.library.settings import LibrarySettings
from tests.library.tiny import made_up_text, write_texts


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory, tiny: HybridMatcher) -> list[DocumentRow]:
    """Forty documents, of which one repeats a word more often than a byte can say."""
    place = tmp_path_factory.mktemp("rows")
    texts = write_texts(place / "texts", range(40))
    (texts / "d007.txt").write_text(made_up_text(7) + " Harbour ledger." * 300)
    library = Library(place / "library", tiny)
    library.add(texts)
    return library.store.fetch(list(library), INDEX_COLUMNS)


@pytest.fixture
def index(tmp_path: Path, tiny: HybridMatcher) -> Index:
    return Index(tmp_path / "index", tiny.statistics, "fingerprint")


def assert_holds(index: Index, rows: list[DocumentRow]) -> None:
    assert set(index.roster.rows) == {row.id for row in rows}
    for kind in KINDS:
        expected = [row.terms().of(kind).counts for row in rows]
        counted = Frequencies.of(expected)
        assert index.frequencies(kind)(counted.ids).tolist() == counted.counts.tolist()
        for row, counts in zip(rows, expected, strict=True):
            held = index.select([row.id]).counts(kind)
            assert np.array_equal(held.ids, counts.ids) and np.array_equal(held.counts, counts.counts)


@pytest.mark.parametrize("seed", range(6))
def test_additions_and_removals_in_any_order(index: Index, rows: list[DocumentRow], seed: int) -> None:
    index.settings = LibrarySettings(merge_entries=50 if seed % 2 else 4_000_000)
    chance, live, segments = random.Random(seed), {}, set()
    for _ in range(14):
        if live and chance.random() < 0.5:
            removed = chance.sample(sorted(live), chance.randint(1, len(live)))
            index.remove([*removed, "unknown"])
            live = {id: row for id, row in live.items() if id not in removed}
        elif absent := [row for row in rows if row.id not in live]:
            added = chance.sample(absent, chance.randint(1, min(12, len(absent))))
            index.add(added)
            live |= {row.id: row for row in added}
        segments.add(len(index.segments))
        assert_holds(index, list(live.values()))
    assert len(segments) > 1
    index.merge()
    index.save(1)
    again = Index.open(index.folder, index.statistics, index.fingerprint)
    assert len(again.segments) == 1
    assert_holds(again, list(live.values()))
    for kind in KINDS:
        assert (again.segments[0][f"{kind}.frequencies"] > 0).all()


def test_a_term_stays_that_a_later_document_has_and_a_removed_one_had(index: Index, rows: list[DocumentRow]) -> None:
    index.add(rows)
    index.remove([rows[0].id])
    index.add(rows[:1])  # merged with the removal, not with the older segment: its frequencies add up to 0
    assert [len(segment) for segment in index.segments] == [40, 1]
    assert not index.segments[1]["words.frequencies"].any()
    assert_holds(index, rows)


def test_counts_are_as_wide_as_the_largest_needs(index: Index, rows: list[DocumentRow]) -> None:
    few, many = (next(row for row in rows if row.id == id) for id in ("d001.txt", "d007.txt"))
    for row, width in ((few, 1), (many, 2)):
        index.add([row])
        assert index.segments[-1]["words.counts"].itemsize == width
    index.merge()
    assert index.segments[0]["words.counts"].max() > 300
    assert_holds(index, [few, many])
