"""Rows kept between questions: the same as read anew, of the latest version, and within a limit."""

from pathlib import Path

import numpy as np
import pytest

from longmatch.library.library import Library
from longmatch.library.row_cache import RowCache, StoredSentences
from longmatch.library.rows import SENTENCE_COLUMNS
from longmatch.library.store import Store
from tests.library.tiny import tiny_matcher, write_texts


@pytest.fixture
def library(tiny_bert: Path, tmp_path: Path) -> Library:
    made = Library(tmp_path / "library", tiny_matcher(tiny_bert))
    made.add(write_texts(tmp_path / "texts", range(12)))
    return made


def test_a_kept_row_says_what_the_store_says(library: Library) -> None:
    ids = [*list(library)[3:6], "unknown"]
    for _ in range(2):
        rows = library.store.sentences(ids)
        assert [row.id for row in rows] == ids[:3]
        for kept, read in zip(rows, library.store.fetch(ids, SENTENCE_COLUMNS), strict=True):
            assert np.array_equal(kept.unpacked().vectors, read.sentence_vectors().vectors)
            assert np.array_equal(kept.unpacked().expectations, read.sentence_vectors().expectations)


def test_documents_unpacked_together_are_those_unpacked_alone(library: Library) -> None:
    rows = library.store.sentences(list(library)[:3])
    coarse = StoredSentences("coarse", (127 * rows[0].vectors).astype(np.int8), rows[0].expectations)
    for some in (rows, [coarse, coarse], [rows[1], coarse]):
        together, alone = StoredSentences.unpack(some), [row.unpacked() for row in some]
        assert np.array_equal(together.vectors, np.concatenate([each.vectors for each in alone]))
        assert np.array_equal(together.expectations, np.concatenate([each.expectations for each in alone]))


def reader(store: Store, asked: list[list[str]]):
    """Makes rows, and remembers which were asked for."""

    def read(ids):
        asked.append(list(ids))
        return [StoredSentences.of(row) for row in store.fetch(ids, SENTENCE_COLUMNS)]

    return read


def test_what_is_kept_is_not_read_again_until_the_library_changes(library: Library) -> None:
    cache, asked, (first, second, third) = RowCache(1 << 20), [], list(library)[:3]
    read = reader(library.store, asked)
    cache.get([first, second], 1, read)
    cache.get([second, third], 1, read)
    cache.get([first, third], 1, read)
    cache.get([first], 2, read)
    assert asked == [[first, second], [third], [first]]


def test_a_changed_document_is_read_anew(library: Library, tmp_path: Path) -> None:
    id = next(iter(library))
    before = library.store.sentences([id])[0].vectors
    shown = library.searcher().encodings([id])[0].document.text
    (tmp_path / "texts" / id).write_text("Another text altogether. It has two sentences.", encoding="utf-8")
    library.add(tmp_path / "texts")
    assert not np.array_equal(before, library.store.sentences([id])[0].vectors)
    assert library.searcher().encodings([id])[0].document.text != shown


def test_the_oldest_go_first_where_there_is_no_room(library: Library) -> None:
    store, ids, asked = library.store, list(library)[:6], []
    size = store.sentences(ids[:1])[0].size
    cache, read = RowCache(int(3.5 * size)), reader(store, asked)
    assert [row.id for row in cache.get(ids, 1, read)] == ids  # more than there is room for are still answered
    cache.get(ids[-2:], 1, read)
    cache.get(ids[:1], 1, read)
    assert asked == [ids, ids[:1]]
