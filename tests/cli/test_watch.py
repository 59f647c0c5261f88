"""`longmatch index --watch`: a real process that follows a folder, and leaves quietly."""

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from longmatch.library.errors import NotALibrary
from longmatch.library.library import Library
from longmatch.library.watching import Watcher
from tests import forked
from tests.library.tiny import write_texts


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
