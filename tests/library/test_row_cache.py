"""Documents kept between questions: the same as read again, of the latest version, and within a limit."""

from dataclasses import dataclass

from longmatch.library.library import Library
from longmatch.library.row_cache import RowCache
from tests.library.tiny import write_texts


@dataclass(frozen=True)
class Row:
    id: str
    size: int = 100


def reader(asked: list[list[str]]):
    """Makes rows of all ids but unknown ones, and remembers which were asked for."""

    def read(ids):
        asked.append(list(ids))
        return [Row(id) for id in ids if id != "unknown"]

    return read


def test_rows_come_in_the_order_asked_for_without_unknown_ones() -> None:
    cache = RowCache(1 << 20)
    for _ in range(2):
        assert [row.id for row in cache.get(["c", "a", "unknown", "b"], 1, reader([]))] == ["c", "a", "b"]


def test_what_is_kept_is_not_read_again_until_the_library_changes() -> None:
    cache, asked = RowCache(1 << 20), []
    read = reader(asked)
    for ids, version in ((["a", "b"], 1), (["b", "c"], 1), (["a", "c"], 1), (["a"], 2)):
        cache.get(ids, version, read)
    assert asked == [["a", "b"], ["c"], ["a"]]


def test_the_oldest_go_first_where_there_is_no_room() -> None:
    cache, asked, ids = RowCache(350), [], list("abcdef")
    read = reader(asked)
    assert [row.id for row in cache.get(ids, 1, read)] == ids  # more than there is room for are still answered
    cache.get(ids[-2:], 1, read)
    cache.get(ids[:1], 1, read)
    assert asked == [ids, ids[:1]]


def test_a_changed_document_is_read_again(library: Library, tmp_path) -> None:
    library.add(write_texts(tmp_path / "texts", range(12)))
    id = next(iter(library))
    before = library.searcher().encodings([id])[0]
    (tmp_path / "texts" / id).write_text("Another text altogether. It has two sentences.", encoding="utf-8")
    library.add(tmp_path / "texts")
    after = library.searcher().encodings([id])[0]
    assert after.document.text != before.document.text and len(after.sentence_vectors) == 2
