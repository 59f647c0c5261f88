"""What a stopped run had finished is taken into the library, where that is safe."""

from collections.abc import Callable
from pathlib import Path

import pytest

from longmatch.default.matcher import HybridMatcher
from longmatch.distributed.indexing import DocumentToEncode, EncodeWorker
from longmatch.distributed.journal import JOURNAL, FinishedStep, Journal, recover
from longmatch.documents.read import read
from longmatch.library.errors import LibraryError
from longmatch.library.library import Library
from tests.library.tiny import tiny_matcher, write_texts


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    return write_texts(tmp_path / "texts", range(12))


@pytest.fixture
def library(tmp_path: Path, texts: Path, matcher: HybridMatcher) -> Library:
    """Two of the documents."""
    library = Library(tmp_path / "library", matcher)
    library.add([texts / "d000.txt", texts / "d001.txt"])
    return library


def stopped_after(library: Library, texts: Path, make: Callable[[], HybridMatcher], numbers: range) -> None:
    """What a run leaves that encoded these documents, one a step, and was killed."""
    encoder = EncodeWorker(library.address, make, 1)
    encoder.ready()
    journal = Journal(Path(library.address) / JOURNAL, library.store.version)
    for step, number in enumerate(numbers):
        document = read(texts / f"d{number:03}.txt")
        fragments, tokens = encoder.encode([[DocumentToEncode(0, document.id, "texts/" + document.id)]], [document])
        assert tokens > 10
        journal.append(FinishedStep(step, fragments, [document.id]))


def recovered(library: Library) -> list[str]:
    with library.writer() as writer:
        recover(Path(library.address) / JOURNAL, writer)
    assert not (Path(library.address) / JOURNAL).exists()
    return list(library)


def test_finished_documents_are_taken_in_and_replace_those_of_their_id(
    library: Library, texts: Path, make: Callable[[], HybridMatcher]
) -> None:
    write_texts(texts, range(1, 2), salt=1)
    stopped_after(library, texts, make, range(1, 5))
    assert recovered(library) == [f"d{number:03}.txt" for number in range(5)]
    assert library.show("d001.txt").text == (texts / "d001.txt").read_text()
    assert library.rank("d001.txt", k=9) and len(library.rank("d001.txt", k=9)) == 4


def test_they_are_left_out_where_the_library_has_changed_since(
    library: Library, texts: Path, make: Callable[[], HybridMatcher]
) -> None:
    stopped_after(library, texts, make, range(2, 5))
    library.add(texts / "d003.txt")
    assert recovered(library) == ["d000.txt", "d001.txt", "d003.txt"]


def test_they_are_left_out_where_their_files_are_gone(
    library: Library, texts: Path, make: Callable[[], HybridMatcher]
) -> None:
    data = Path(library.address) / "documents.lance" / "data"
    before = set(data.iterdir())
    stopped_after(library, texts, make, range(2, 5))
    (set(data.iterdir()) - before).pop().unlink()
    assert recovered(library) == ["d000.txt", "d001.txt"]


def test_a_cut_off_line_ends_what_is_taken_in(library: Library, texts: Path, make: Callable[[], HybridMatcher]) -> None:
    stopped_after(library, texts, make, range(2, 5))
    journal = Path(library.address) / JOURNAL
    journal.write_text(journal.read_text()[:-9])
    assert recovered(library) == [f"d{number:03}.txt" for number in range(4)]


def test_a_worker_with_another_model_is_refused(library: Library, tiny_roberta: Path) -> None:
    with pytest.raises(LibraryError, match="was made with the model"):
        EncodeWorker(library.address, lambda: tiny_matcher(tiny_roberta), 1).ready()


def test_a_worker_that_does_not_see_the_library_says_so(tmp_path: Path, make: Callable[[], HybridMatcher]) -> None:
    with pytest.raises(LibraryError, match="does not exist on the machine"):
        EncodeWorker(str(tmp_path / "elsewhere"), make, 1).ready()
