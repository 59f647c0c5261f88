"""Readers hold what they read: a writer that merges, compacts and removes files meanwhile disturbs no answer."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from threading import Event

import pytest

from longmatch.default.matcher import HybridMatcher
from longmatch.documents.read import read_text_string
from longmatch.lexical.terms import KINDS
from longmatch.library.index.index import Index
from longmatch.library.index.segment import Segment
from longmatch.library.library import Library
from longmatch.library.rows import DocumentRow, to_table
from longmatch.library.settings import LibrarySettings
from longmatch.library.writer import update_index
from tests.library.tiny import made_up_text, write_texts


def test_an_open_index_can_be_read_once_its_segments_are_removed(
    library: Library, texts: Path, opened: Callable[[], Library]
) -> None:
    library.add(texts)
    index = opened().searcher().index
    write_texts(texts, range(20, 30))
    library.add(texts)
    assert not any(segment.folder.exists() for segment in index.segments)
    (encoding,) = index.select(["d003.txt"]).each(partial(Segment.encoding, vectors="float16"))
    assert encoding is not None and encoding.document.text == made_up_text(3)
    assert all(len(segment[name]) >= 0 for segment in index.segments for name in segment.arrays)


def test_an_index_is_opened_though_a_writer_replaces_its_segments_meanwhile(
    library: Library, texts: Path, opened: Callable[[], Library], monkeypatch: pytest.MonkeyPatch
) -> None:
    library.add(texts)
    current = opened().current_index
    opening, number = Segment.open, iter(range(40, 45))

    def open_late(folder: Path) -> Segment:
        with monkeypatch.context() as writing:
            writing.setattr(Segment, "open", opening)
            for new in number:
                (texts / f"d{new:03}.txt").write_text(made_up_text(new), encoding="utf-8")
                library.add(texts)
                break
        return opening(folder)

    monkeypatch.setattr(Segment, "open", open_late)
    assert len(current.open()) == 8 + 5


def test_a_reader_of_a_version_that_was_dropped_goes_on_with_the_latest(
    tmp_path: Path, tiny: HybridMatcher, texts: Path, opened: Callable[[], Library]
) -> None:
    library = Library(tmp_path / "library", tiny, settings=LibrarySettings(fragments=0))
    library.add(texts)
    library.add(write_texts(texts, range(40, 44)))
    reads = {
        "read": lambda reader: reader.read(["id"]).num_rows,
        "ids_where": lambda reader: len(reader.ids_where("words > 1")),
        "fetch": lambda reader: len(reader.fetch([f"d{n:03}.txt" for n in range(60)], ["id"])),
        "batches": lambda reader: sum(map(len, reader.batches(["id"], 4))),
        "find": lambda reader: len(reader.find("river", 100)),
        "files": lambda reader: len(reader.files()),
    }
    readers = {name: opened().store for name in reads}
    streams = {count: readers["batches"].batches(["id"], count) for count in (1, 4)}
    begun = {count: next(stream) for count, stream in streams.items()}
    library.add(write_texts(texts, range(50, 54)))
    latest = opened().store
    for name, read in reads.items():
        assert read(readers[name]) == read(latest) > 0, name
    assert len(latest) == 16
    for count, stream in streams.items():
        ids = [row.id for rows in (begun[count], *stream) for row in rows]
        assert len(ids) == len(set(ids)) >= 12


def test_a_changed_store_changes_the_index_in_place(
    library: Library, texts: Path, opened: Callable[[], Library], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As after a writer that was killed before it changed the index, or where other machines change the store."""
    write_texts(texts, range(12))
    library.add(texts)
    replaced = library.matcher.encode([read_text_string(made_up_text(77), "d007.txt")])
    library.store.put(to_table(replaced, library.store.model.vectors))
    library.store.delete(["d005.txt"])
    added: list[str] = []
    add = Index.add

    def noted(index: Index, rows: Sequence[DocumentRow]) -> None:
        added.extend(row.id for row in rows)
        add(index, rows)

    monkeypatch.setattr(Index, "add", noted)
    index = opened().searcher().index
    assert added == ["d007.txt"]
    hashes = library.store.read(["id", "hash"])
    assert index.content_hashes() == dict(zip(hashes["id"].to_pylist(), hashes["hash"].to_pylist(), strict=True))
    monkeypatch.undo()
    fresh = Index(Path(library.address) / "fresh", index.statistics, index.fingerprint)
    update_index(fresh, library.store)
    for kind in KINDS:
        terms = fresh.segments[0][f"{kind}.terms"]
        assert index.frequencies(kind)(terms).tolist() == fresh.frequencies(kind)(terms).tolist()


def test_no_reader_fails_while_documents_come_and_go(
    tmp_path: Path, tiny: HybridMatcher, texts: Path, opened: Callable[[], Library]
) -> None:
    settings = LibrarySettings(fragments=3)  # compacted with every other change
    library = Library(tmp_path / "library", tiny, settings=settings)
    library.add(texts)
    done = Event()

    def ask(number: int) -> int:
        reader, asked = opened(), 0
        while not done.is_set():
            reader.rank(f"d{(number + asked) % 8:03}.txt", by="sdr" if asked % 4 == 3 else "default")
            assert len(reader.records()) >= 8 and reader.find_ids("river") is not None
            asked += 1
        return asked

    with ThreadPoolExecutor(4) as pool:
        readers = [pool.submit(ask, number) for number in range(4)]
        try:
            for number in range(20, 26):
                library.add(write_texts(texts, range(number, number + 1)))
                library.remove(f"d{number:03}.txt") if number % 4 == 0 else None
        finally:
            done.set()
        assert all(reader.result() for reader in readers)
