"""`longmatch index` as the user sees it."""

import os
import shutil
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from longmatch.library.errors import NotALibrary
from longmatch.library.library import Library
from longmatch.library.watching import Watcher
from tests import forked
from tests.library.tiny import write_texts


@pytest.fixture
def mixed(folder):
    """Documents among other files."""
    for name in ("a.xlsx", "b.xlsx", "c.ods", "LICENSE"):
        (folder / name).write_bytes(b"x")
    return folder


def test_files_that_are_not_read_are_counted_by_format(longmatch, mixed, tmp_path):
    ran = longmatch("index", tmp_path / "library", mixed)
    counted = "2 .xlsx, 1 without a suffix, 1 .ods"
    assert ran.err == f"longmatch: 4 files were passed over (--json names them): {counted}.\n"
    assert ran.out == f"{tmp_path / 'library'}: 5 added\n"


def test_files_that_are_not_read_are_named_in_json(longmatch, mixed, tmp_path):
    ran = longmatch("index", tmp_path / "library", mixed, "--json")
    assert ran.json["passed_over"] == [str(mixed / name) for name in ("LICENSE", "a.xlsx", "b.xlsx", "c.ods")]
    assert ran.err == ""


def test_a_language_that_the_model_does_not_know_is_said_once(longmatch, folder, tmp_path):
    chinese = tmp_path / "裁判.txt"
    chinese.write_text("本院认为，被告应当返还原告的存款。银行关闭了大门。\n", encoding="utf-8")
    said = "The model was trained on English: documents in Chinese are matched by words more than by meaning."
    ran = longmatch("index", tmp_path / "library", folder, chinese, "--json")
    assert ran.json["remarks"] == [said]
    assert longmatch("rank", chinese, tmp_path / "library", "--json").json["remarks"][0] == said
    assert longmatch("rank", chinese, tmp_path / "library").err == f"longmatch: {said}\n"
    assert said not in longmatch("rank", "bank.md", tmp_path / "library", "--json").json["remarks"]


def test_a_folder_of_documents_does_not_become_a_library(longmatch, folder, tmp_path):
    before = sorted(folder.rglob("*"))
    shutil.copytree(folder, tmp_path / "above" / "inside")
    for place in (folder, tmp_path / "above"):
        for paths in ([place], [folder / "bank.md"]):
            said = longmatch("index", place, *paths).complaint
            assert said.startswith(f"{place} holds documents, such as ")
            assert said.endswith(". Name a new folder for the library: longmatch index LIBRARY PATHS.")
    assert sorted(folder.rglob("*")) == before


def test_a_library_is_not_called_like_a_document(longmatch, folder, tmp_path):
    said = longmatch("index", tmp_path / "new.txt", folder).complaint
    assert said.startswith(f"{tmp_path / 'new.txt'} is the name of a document. Name a new folder")
    assert not (tmp_path / "new.txt").exists()


def test_a_file_whose_name_cannot_be_decoded_is_named_and_the_others_are_indexed(longmatch, folder, tmp_path):
    (folder / os.fsdecode(b"caf\xe9.txt")).write_text("Coffee is sold from nine.\n")
    (folder / os.fsdecode(b"caf\xe9.xlsx")).write_bytes(b"x")
    ran = longmatch("index", tmp_path / "library", folder, "--json")
    assert len(ran.json["added"]) == 5
    said = f"{folder}/caf\ufffd.txt has a name that is not valid UTF-8. Rename it."
    assert ran.json["unreadable"] == [{"file": f"{folder}/caf\ufffd.txt", "problem": said}]
    assert ran.json["passed_over"] == [f"{folder}/caf?.xlsx"]


def watch(library: Path, texts: Path) -> None:
    Watcher.interval = 0.3
    forked.longmatch("index", library, texts, "--watch")


def until(fact: Callable[[], bool], process: Any, said: Path) -> None:
    end = time.monotonic() + 60
    while not fact():
        assert process.is_alive() and time.monotonic() < end, said.read_text()
        time.sleep(0.05)


def ids(library: Path) -> list[str]:
    try:
        return list(Library(library, create=False))
    except NotALibrary:
        return []


def test_a_library_follows_its_folder_until_ctrl_c(tmp_path: Path) -> None:
    texts, library, out, said = (tmp_path / name for name in ("texts", "library", "out", "err"))
    write_texts(texts, range(2))
    out.touch()
    said.touch()
    process = forked.start(watch, library, texts, out=out, err=said)
    try:
        follow(process, library, texts, out, said)
    finally:
        process.kill()  # if it has not ended


def follow(process: Any, library: Path, texts: Path, out: Path, said: Path) -> None:
    until(lambda: "watching" in said.read_text(), process, said)
    assert ids(library) == ["d000.txt", "d001.txt"]

    write_texts(texts, range(2, 3))
    (texts / "broken.pdf").write_bytes(b"%PDF-1.7 not really")
    until(lambda: "d002.txt" in ids(library) and "broken.pdf" in said.read_text(), process, said)
    (texts / "d000.txt").unlink()
    (texts / "d001.txt").write_text("Something else entirely, about boats on a lake. They sank.")
    until(lambda: "replaced d001.txt" in out.read_text(), process, said)
    until(lambda: ids(library) == ["d001.txt", "d002.txt"], process, said)
    (texts / "d002.txt").rename(texts / "other.txt")
    until(lambda: "renamed d002.txt to other.txt" in out.read_text(), process, said)
    assert ids(library) == ["d001.txt", "other.txt"]
    texts.rename(texts.parent / "away")
    until(lambda: "is not there" in said.read_text(), process, said)
    (texts.parent / "away").rename(texts)
    time.sleep(1)
    assert ids(library) == ["d001.txt", "other.txt"]
    before = said.read_text()
    assert before.count("broken.pdf") == 1

    os.killpg(process.pid, signal.SIGINT)
    process.join(30)
    assert process.exitcode == 130
    assert said.read_text() == before and "Traceback" not in before


def test_watching_is_for_this_computer(longmatch: Any, tmp_path: Path) -> None:
    texts = write_texts(tmp_path / "texts", range(1))
    assert "--ray" in longmatch("index", tmp_path / "library", texts, "--watch", "--ray").complaint
