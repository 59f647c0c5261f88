"""Files attached to e-mails are documents of a library, each with its address as id."""

from pathlib import Path

from longmatch.library.files import SourceFile, read_files
from longmatch.library.library import Library
from tests.documents.test_mail import ATTACHED, FILES, REFUSED


def test_files_attached_to_messages_are_indexed_and_others_are_named(library: Library, tmp_path: Path) -> None:
    folder = tmp_path / "mail"
    folder.mkdir()
    (folder / "a.eml").write_bytes(FILES)
    (folder / "in.mbox").write_bytes(b"From a@example.org x\n" + FILES)
    done = library.add(folder)
    assert done.added == [*ATTACHED, *(id.replace("a.eml", "in.mbox#1") for id in ATTACHED)]
    assert all(_said(done, f"{where}#{problem}") for where in ("a.eml", "in.mbox#1") for problem in REFUSED)
    assert [said for said in done.remarks if "not read: prices.xlsx." in said] == done.remarks[:2]
    assert library.add(folder).unchanged == 8


def _said(done, sentence: str) -> bool:
    return any(sentence in problem for _, problem in done.unreadable)


def test_an_attachment_that_kills_its_reader_takes_no_message_with_it(tmp_path: Path, monkeypatch) -> None:
    path = tmp_path / "in.mbox"
    path.write_bytes(b"From a@example.org x\n" + FILES)
    monkeypatch.setattr("longmatch.library.files.read_message", _die)
    (found,) = read_files([SourceFile(path, "in.mbox", "in.mbox", "", 0, 0)])
    assert [document.id for document in found.documents] == ["in.mbox#1"]
    assert "in.mbox#1, or a file attached to it, crashed its reader" in str(found.problems[0])


def _die(message: object) -> None:
    import os

    os._exit(1)
