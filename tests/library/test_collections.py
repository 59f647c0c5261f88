"""Mailboxes and zip files in a library: a document per message and per member."""

import json
import zipfile
from pathlib import Path

import pytest

from longmatch.documents import formats, read, read_all
from longmatch.errors import LongmatchWarning, ReadError
from longmatch.library.files import SourcePaths, read_files, survey
from longmatch.library.library import Library
from longmatch.web.reading.child import read_many
from tests.documents.made_container import STACK
from tests.library.tiny import made_up_text


def mailbox(*numbers: int) -> str:
    return "".join(f"From x\nFrom: A B <a@b.org>\nSubject: s{n}\n\n{made_up_text(n)}\n\n" for n in numbers)


def write_zip(path: Path, *numbers: int) -> None:
    with zipfile.ZipFile(path, "w") as file:
        for n in numbers:
            file.writestr(f"sub/{n}.txt", made_up_text(n))


def test_messages_and_members_are_added_changed_and_removed(library: Library, tmp_path: Path) -> None:
    folder = tmp_path / "mail"
    folder.mkdir()
    (folder / "in.mbox").write_text(mailbox(0, 1))
    write_zip(folder / "all.zip", 2, 3)
    first = library.add(folder)
    assert sorted(first.added) == ["all.zip#sub/2.txt", "all.zip#sub/3.txt", "in.mbox#1", "in.mbox#2"]
    assert library.add(folder).unchanged == 4
    (folder / "in.mbox").write_text(mailbox(0, 1, 4))
    write_zip(folder / "all.zip", 3)
    second = library.add(folder, prune=True)
    assert (second.added, second.removed, second.unchanged) == (["in.mbox#3"], ["all.zip#sub/2.txt"], 3)
    assert library.show("in.mbox#3").metadata == {"author": "A B"}
    assert library.rank("in.mbox#1", k=5)[0].id != "in.mbox#1"
    assert library.rank(folder / "all.zip#sub/3.txt", k=5)[0].id != "all.zip#sub/3.txt"


@pytest.fixture
def stack(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file of a format that longmatch does not know, beside the one line that makes it known."""
    monkeypatch.setattr(formats, "CONTAINERS", (*formats.CONTAINERS, STACK))
    path = tmp_path / "all.stack"
    path.write_text("The ferries run late.\n---\n\n---\ndie\n---\nThe tide is early.")
    return path


SAID = [
    "all.stack#2 is empty. Leave it out.",
    "all.stack#3 crashed its reader. The file is probably damaged; leave it out.",
]


def test_a_new_container_is_indexed_and_a_member_that_kills_its_reader_is_named(library: Library, stack: Path) -> None:
    done = library.add(stack)
    assert done.added == ["all.stack#1", "all.stack#4"]
    assert [sentence.removeprefix(f"{stack.parent}/") for _, sentence in done.unreadable] == SAID
    assert done.remarks[:2] == [f"{stack}#1: read.", f"{stack}#4: read."]
    assert library.show("all.stack#4").text == "The tide is early."


def test_a_new_container_is_read_in_memory_and_by_its_addresses(stack: Path) -> None:
    stack.write_text("The ferries run late.\n---\n\n---\nThe tide is early.")
    errors: list[ReadError] = []
    with pytest.warns(LongmatchWarning) as said:
        assert [document.id for document in read_all(stack.parent, errors.append)] == ["all.stack#1", "all.stack#3"]
    assert [str(error) for error in errors] == [f"{stack}#2 is empty. Leave it out."]
    assert [str(one.message) for one in said] == [f"{stack}#1: read.", f"{stack}#3: read."]
    with pytest.warns(LongmatchWarning) as said:
        assert read(f"{stack}#3").text == "The tide is early."
    assert [str(one.message) for one in said] == [f"{stack}#3: read."]


def test_a_new_container_is_read_for_the_page(stack: Path, capsys: pytest.CaptureFixture[str]) -> None:
    stack.write_text("The ferries run late.\n---\n\n---\nThe tide is early.")
    read_many(str(stack), "upload.stack", 1_000, 10, 10_000, skip=1)
    *said, last = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    document = json.loads(last["document"])
    assert (document["id"], document["remarks"]) == ("upload.stack#3", ["upload.stack#3: read."])
    assert said == [{"begin": "2"}, {"problem": "upload.stack#2 is empty. Leave it out."}, {"begin": "3"}]


def test_many_members_are_read_by_several_processes_in_order(tmp_path: Path) -> None:
    write_zip(tmp_path / "all.zip", *range(130))
    found = survey([tmp_path / "all.zip"], {}, SourcePaths(tmp_path)).to_read
    read = [d.id for file in read_files(found, processes=2) for d in file.documents]
    assert read == [f"all.zip#sub/{n}.txt" for n in range(130)]
