"""Mailboxes and zip files in a library: a document per message and per member."""

import zipfile
from pathlib import Path

from longmatch.library import files
from longmatch.library.files import SourcePaths, ZipGroup, read_files, survey
from longmatch.library.library import Library
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


def test_a_member_that_kills_its_reader_is_named_and_the_others_are_read(tmp_path: Path) -> None:
    write_zip(tmp_path / "all.zip", 1, 2)
    file = survey([tmp_path / "all.zip"], {}, SourcePaths(tmp_path)).to_read[0]
    assert files._crashed_group(ZipGroup(file, ("sub/1.txt",))).problems[0].problem == "crashed its reader"
    again = files._crashed_group(ZipGroup(file, ("sub/1.txt", "sub/2.txt")))
    assert [d.id for d in again.documents] == ["all.zip#sub/1.txt", "all.zip#sub/2.txt"]


def test_many_members_are_read_by_several_processes_in_order(tmp_path: Path) -> None:
    write_zip(tmp_path / "all.zip", *range(130))
    found = survey([tmp_path / "all.zip"], {}, SourcePaths(tmp_path)).to_read
    read = [d.id for file in read_files(found, processes=2) for d in file.documents]
    assert read == [f"all.zip#sub/{n}.txt" for n in range(130)]
