"""Files attached to e-mails are documents of a library, each with its address as id."""

from pathlib import Path

import pytest

from longmatch.documents import Document
from longmatch.documents.containers import members
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


@pytest.mark.parametrize("name", ["in.mbox", "a.eml"])
def test_an_attachment_that_kills_its_reader_takes_no_message_with_it(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes((b"From a@example.org x\n" if name == "in.mbox" else b"") + FILES)
    (member,) = members(path)
    assert member.may_crash
    text, problem = member.after_crash(name)
    assert isinstance(text, Document) and text.title == "Tides"
    assert f"{name}{'#1' * (name == 'in.mbox')}, or a file attached to it, crashed its reader" in str(problem)
