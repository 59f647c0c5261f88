"""Ctrl-C in `longmatch index`: a real signal to a real process, which keeps what it has encoded."""

import os
import re
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from longmatch.cli.interrupt import PATIENCE
from longmatch.cli.progress import indexing as index_progress
from longmatch.library.errors import NotALibrary
from longmatch.library.library import Library
from longmatch.library.settings import LibrarySettings
from longmatch.library.writer import Writer
from tests import forked
from tests.library.tiny import made_up_text, use_by_default

DOCUMENTS = 10
KEPT = re.compile(r"longmatch: stopped\. \S+ keeps (\d+) documents?, (\d+) of them new; run the same .+\n")


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    folder = tmp_path / "texts"
    folder.mkdir()
    for number in range(DOCUMENTS):
        (folder / f"{number:02}.txt").write_text(made_up_text(number, 40))
    return folder


def index(library: Path, texts: Path) -> None:
    """The command, with a commit for each document."""
    use_by_default(LibrarySettings(first_characters=1, commit_seconds=0.0))
    forked.longmatch("index", library, texts)


def index_with_slow_commits(library: Path, texts: Path) -> None:
    put = Writer.put

    def slow(self: Writer, rows: Any) -> None:
        (library.parent / "committing").touch()
        time.sleep(1.5)
        put(self, rows)

    Writer.put = slow  # type: ignore[method-assign]
    index(library, texts)


def index_with_slow_encoding(library: Path, texts: Path) -> None:
    encode = Writer.encode

    def slow(self: Writer, *arguments: Any) -> Any:
        (library.parent / "encoding").touch()
        time.sleep(1.0)
        return encode(self, *arguments)

    Writer.encode = slow  # type: ignore[method-assign]
    index(library, texts)


def documents_in(library: Path) -> int:
    try:
        return len(Library(library, create=False))
    except NotALibrary:
        return 0


def interrupt(work: Callable[..., None], texts: Path, when: Callable[[], bool], presses: int, engine: str) -> Any:
    """Press Ctrl-C, which the terminal sends to all processes of the command, when the time has come."""
    place = texts.parent
    said = place / "err"
    environment = {"LONGMATCH_ENGINE": engine}
    process = forked.start(work, place / "library", texts, out=place / "out", err=said, environment=environment)
    while not when():
        assert process.is_alive(), said.read_text()
        time.sleep(0.02)
    for _ in range(presses):
        os.killpg(process.pid, signal.SIGINT)
        time.sleep(0.2)
    process.join(60)
    return process.exitcode, said.read_text()


@pytest.mark.parametrize("engine", ["openvino", "torch"])
def test_an_interrupted_run_says_what_it_keeps_and_the_next_goes_on(
    longmatch: Any, texts: Path, tmp_path: Path, engine: str
) -> None:
    library = tmp_path / "library"
    status, said = interrupt(index, texts, lambda: documents_in(library) > 0, 1, engine)
    kept = KEPT.fullmatch(said)
    assert status == 130 and kept, said
    assert 0 < int(kept[1]) == int(kept[2]) == documents_in(library) < DOCUMENTS
    again = longmatch("index", library, texts, "--json").json
    assert (again["unchanged"], len(again["added"])) == (int(kept[1]), DOCUMENTS - int(kept[1]))


def test_an_interrupt_before_the_first_commit_says_that_nothing_is_kept(texts: Path, tmp_path: Path) -> None:
    encoding = (tmp_path / "encoding").exists
    status, said = interrupt(index_with_slow_encoding, texts, encoding, 1, "openvino")
    assert status == 130 and documents_in(tmp_path / "library") == 0
    again = "run the same command again to start from the beginning."
    assert said == f"longmatch: stopped. {tmp_path / 'library'} keeps nothing yet; {again}\n"


def test_an_interrupt_while_the_model_is_loaded_says_so_too(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(KeyboardInterrupt), index_progress():
        raise KeyboardInterrupt
    assert "Nothing new is kept yet; run the same command again to start from the beginning." in capsys.readouterr().err


def test_a_second_interrupt_lets_the_closing_commit_end(texts: Path, tmp_path: Path) -> None:
    committing = (tmp_path / "committing").exists
    status, said = interrupt(index_with_slow_commits, texts, committing, 2, "openvino")
    assert status == 130 and said.startswith(PATIENCE.decode())
    kept = KEPT.fullmatch(said.removeprefix(PATIENCE.decode()))
    assert kept and int(kept[1]) == documents_in(tmp_path / "library") >= 1


def test_a_third_interrupt_leaves_at_once(texts: Path, tmp_path: Path) -> None:
    committing = (tmp_path / "committing").exists
    status, said = interrupt(index_with_slow_commits, texts, committing, 3, "openvino")
    assert (status, said) == (130, PATIENCE.decode())
    assert documents_in(tmp_path / "library") == 0
