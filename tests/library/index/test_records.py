"""A document's record in the index is what the store holds of it, wherever merging puts it."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from longmatch.default.matcher import HybridMatcher
from longmatch.library.index.records import record_files
from longmatch.library.index.segment import Segment
from longmatch.library.library import Library
from longmatch.library.rows import ENCODING_COLUMNS, VectorType
from longmatch.library.settings import LibrarySettings
from longmatch.library.store import Store
from longmatch.matching.hits import Hits
from tests.library.tiny import write_texts


def assert_recorded(library: Library) -> None:
    """Every document has a record, equal to its row of the store."""
    ids = list(library)
    rows = library.store.fetch(ids, ENCODING_COLUMNS)
    for row, recorded in zip(
        rows,
        library.searcher().index.select(ids).each(partial(Segment.encoding, vectors=library.store.model.vectors)),
        strict=True,
    ):
        stored = row.encoding()
        assert recorded is not None
        assert recorded.document == stored.document
        assert np.array_equal(recorded.sentences.starts, stored.sentences.starts)
        assert np.array_equal(recorded.sentence_vectors.vectors, stored.sentence_vectors.vectors)
        assert np.array_equal(recorded.sentence_vectors.expectations, stored.sentence_vectors.expectations)
        assert np.array_equal(recorded.terms.words.ids, stored.terms.words.ids)
        assert np.array_equal(recorded.terms.words.offsets, stored.terms.words.offsets)
        assert np.array_equal(recorded.vector, stored.vector)
        assert np.array_equal(recorded.title_vector, stored.title_vector)


@pytest.mark.parametrize("vectors", ["float16", "int8"])
@pytest.mark.parametrize("full", [1, 20_000, 64 << 20])
def test_records_stay_true_through_additions_replacements_removals_and_merges(
    tmp_path: Path, tiny, texts: Path, vectors: VectorType, full: int
) -> None:
    library = Library(tmp_path / "library", tiny, vectors=vectors, settings=LibrarySettings(record_bytes=full))
    library.add(texts)
    write_texts(texts, range(30, 40))
    (texts / "d001.txt").write_text("Title\n\nAnother text altogether. It has two sentences.")
    library.add(texts)
    assert_recorded(library)
    library.remove(["d002.txt", "d031.txt"])
    assert_recorded(library)


def test_full_files_are_linked_until_less_than_half_is_in_use(tmp_path: Path, tiny: HybridMatcher, texts: Path) -> None:
    library = Library(tmp_path / "library", tiny, settings=LibrarySettings(record_bytes=5_000))
    library.add(texts)

    def files() -> set[int]:
        (segment,) = library.searcher().index.segments
        return {(segment.folder / name).stat().st_ino for name in record_files(segment.folder)}

    before = files()
    library.remove("d000.txt")
    assert before & files()
    library.remove(["d001.txt", "d002.txt", "d003.txt", "d004.txt", "d005.txt", "d006.txt"])
    assert not before & files()
    assert_recorded(library)


def test_a_question_reads_nothing_from_the_store_and_is_answered_as_if_it_did(
    tmp_path: Path, library: Library, opened: Callable[[], Library], monkeypatch: pytest.MonkeyPatch
) -> None:
    library.add(write_texts(tmp_path / "texts", range(200)))
    by_store = opened()
    monkeypatch.setattr(Segment, "encoding", lambda segment, document, vectors, meaning: None)
    expected = by_store.rank("d003.txt")
    monkeypatch.undo()

    def refuse(*arguments: object) -> None:
        raise AssertionError("the store was read")

    monkeypatch.setattr(Store, "read", refuse)
    assert facts(opened().rank("d003.txt")) == facts(expected)


def facts(hits: Hits) -> list[object]:
    return [
        (
            hit.id,
            pytest.approx(hit.score, abs=1e-6),
            pytest.approx(hit.probability, abs=1e-6),
            [(why.a.text, why.b.text, pytest.approx(why.contribution, abs=1e-6)) for why in hit.why],
        )
        for hit in hits
    ]
