"""Rows kept between questions: the same as read anew, of the latest version, and within a limit."""

from pathlib import Path

import numpy as np
import pytest

from longmatch.library.library import Library
from longmatch.library.row_cache import DecodedRow, RowCache
from longmatch.library.rows import SCORE_COLUMNS
from tests.library.tiny import tiny_matcher, write_texts


@pytest.fixture
def library(tiny_bert: Path, tmp_path: Path) -> Library:
    made = Library(tmp_path / "library", tiny_matcher(tiny_bert))
    made.add(write_texts(tmp_path / "texts", range(12)))
    return made


def test_a_kept_row_says_what_the_store_says(library: Library) -> None:
    ids = [*list(library)[3:6], "unknown"]
    for _ in range(2):
        rows = library._store.score_rows(ids)
        assert [row.id for row in rows] == ids[:3]
        for kept, read in zip(rows, library._store.fetch(ids, SCORE_COLUMNS), strict=True):
            assert np.array_equal(kept.sentence_vectors().vectors, read.sentence_vectors().vectors)
            assert np.array_equal(kept.sentence_vectors().expectations, read.sentence_vectors().expectations)
            assert np.array_equal(kept.terms().phrases.ids, read.terms().phrases.ids)
            assert np.array_equal(kept.title_words().ids, read.title_words().ids)
            assert np.array_equal(kept.array("mean"), read.array("mean"))


def test_what_is_kept_is_not_fetched_again_until_the_library_changes(library: Library, tmp_path: Path) -> None:
    store, asked = library._store, []

    def fetch(ids):
        asked.append(list(ids))
        return store.fetch(ids, SCORE_COLUMNS)

    cache, (first, second, third) = RowCache(), list(library)[:3]
    cache.rows([first, second], 1, fetch)
    cache.rows([second, third], 1, fetch)
    cache.rows([first], 2, fetch)
    assert asked == [[first, second], [third], [first]]


def test_a_changed_document_is_read_anew(library: Library, tmp_path: Path) -> None:
    id = next(iter(library))
    before = library._store.score_rows([id])[0].terms().words.ids
    (tmp_path / "texts" / id).write_text("Another text altogether. It has two sentences.", encoding="utf-8")
    library.add(tmp_path / "texts")
    after = library._store.score_rows([id])[0].terms().words.ids
    assert not np.array_equal(before, after)


def test_the_oldest_go_first_where_there_is_no_room(library: Library) -> None:
    store, ids = library._store, list(library)[:6]
    size = DecodedRow.of(store.fetch(ids[:1], SCORE_COLUMNS)[0]).size
    cache, asked = RowCache(most_bytes=int(3.5 * size)), []

    def fetch(missing):
        asked.append(len(missing))
        return store.fetch(missing, SCORE_COLUMNS)

    found = cache.rows(ids, 1, fetch)
    assert [row.id for row in found] == ids  # more than there is room for are still answered
    cache.rows(ids[-2:], 1, fetch)
    cache.rows(ids[:1], 1, fetch)
    assert asked == [6, 0, 1] and cache._held <= 3.5 * size
