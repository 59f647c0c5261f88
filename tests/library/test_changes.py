"""Files with another name or place: their documents are kept as they were read and encoded."""

import json
from pathlib import Path

import numpy as np
import pytest

from longmatch.default.matcher import HybridMatcher
from longmatch.library import files
from longmatch.library.library import Library
from longmatch.library.store import Store
from longmatch.library.writer import Writer
from tests.library.tiny import made_up_text, write_texts


@pytest.fixture
def forbidden(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither reading nor encoding a document is possible any more."""

    def refuse(*_: object) -> None:
        raise AssertionError("read or encoded again")

    monkeypatch.setattr(files, "read_file", refuse)
    monkeypatch.setattr(Writer, "encode", refuse)


def contents(library: Library) -> list[tuple[object, ...]]:
    """What a library holds and answers."""
    rows = [(row["id"], row["title"], Path(row["source"]).name) for row in library.records()]
    hits = [(hit.id, round(hit.score, 5)) for hit in library.rank(next(iter(library)), k=20)]
    titles = library.store.read(["id", "title_vector"]).to_pylist()
    vectors = [(row["id"], *np.round(row["title_vector"], 2)) for row in sorted(titles, key=lambda row: row["id"])]
    return [*rows, *hits, *vectors]


def test_a_renamed_file_keeps_its_document_under_the_new_name_as_in_a_fresh_library(
    library: Library, texts: Path, tiny: HybridMatcher, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    (texts / "titled.md").write_text(f"# A title\n\n{made_up_text(50)}")
    library.add(texts)
    (texts / "below").mkdir()
    (texts / "d003.txt").rename(texts / "e003.txt")
    (texts / "titled.md").rename(texts / "below" / "titled.md")
    fresh = Library(tmp_path / "fresh", tiny)
    fresh.add(texts)
    request.getfixturevalue("forbidden")
    done = library.add(texts, prune=True)
    assert done.renamed == [("titled.md", "below/titled.md"), ("d003.txt", "e003.txt")]
    assert (done.added, done.removed, done.unchanged) == ([], [], 7)
    assert contents(library) == contents(fresh)
    assert library.add(texts, prune=True).renamed == []


def test_without_pruning_the_old_name_stays(library: Library, texts: Path) -> None:
    library.add(texts)
    (texts / "d003.txt").rename(texts / "e003.txt")
    done = library.add(texts)
    assert (done.added, done.vanished, done.renamed) == (["e003.txt"], ["d003.txt"], [])


def test_a_file_of_another_format_or_of_other_content_is_read(library: Library, texts: Path) -> None:
    library.add(texts)
    (texts / "d003.txt").rename(texts / "d003.md")
    (texts / "d004.txt").unlink()
    (texts / "e004.txt").write_text(made_up_text(4) + " Changed.")
    done = library.add(texts, prune=True)
    assert (done.added, done.removed, done.renamed) == (["d003.md", "e004.txt"], ["d003.txt", "d004.txt"], [])


def test_of_two_equal_files_that_are_gone_one_is_renamed_and_one_is_removed(library: Library, texts: Path) -> None:
    (texts / "copy.txt").write_text(made_up_text(3))
    library.add(texts)
    (texts / "copy.txt").unlink()
    (texts / "d003.txt").rename(texts / "e003.txt")
    done = library.add(texts, prune=True)
    assert (done.renamed, done.removed) == ([("copy.txt", "e003.txt")], ["d003.txt"])


def test_the_documents_of_a_renamed_collection_are_kept(
    library: Library, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = tmp_path / "texts"
    texts.mkdir()
    rows = [{"id": f"r{n}", "text": made_up_text(n)} for n in range(3)]
    mails = "".join(f"From a@b.example\nSubject: Mail {n}\n\n{made_up_text(10 + n)}\n\n" for n in range(2))
    (texts / "all.jsonl").write_text("\n".join(map(json.dumps, rows)))
    (texts / "old.mbox").write_text(mails)
    before = library.add(texts).added
    (texts / "all.jsonl").rename(texts / "more.jsonl")
    (texts / "old.mbox").rename(texts / "new.mbox")
    monkeypatch.setattr(Writer, "encode", None)
    done = library.add(texts, prune=True)
    assert list(library) == sorted(id.replace("old.mbox", "new.mbox") for id in before) and len(before) == 5
    assert (len(done.renamed), done.added, done.removed) == (5, [], [])


@pytest.mark.parametrize("step", ["put", "remove", "put_files"])
def test_a_rename_that_was_interrupted_is_repeated(
    library: Library, opened, texts: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    library.add(texts)
    (texts / "d003.txt").rename(texts / "e003.txt")

    def fail(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(Store if step == "put_files" else Writer, step, fail)
        library.add(texts, prune=True)
    again = opened()
    again.add(texts, prune=True)
    assert list(again) == sorted(path.name for path in texts.iterdir())
    assert again.rank("e003.txt")


def test_a_name_that_another_document_has_is_not_given_twice(library: Library, texts: Path, tmp_path: Path) -> None:
    other = write_texts(tmp_path / "other", range(1), salt=7)  # d000.txt
    library.add([texts, other])
    (texts / "d003.txt").rename(other / "d001.txt")
    done = library.add([texts, other], prune=True)
    assert (done.added, done.removed, done.renamed) == (["d001.txt (2)"], ["d003.txt"], [])
