"""What is said while somebody waits: each kind of work by its name, how much of it is done, and how long it takes."""

import os
import pty
import re
from pathlib import Path
from select import select
from typing import Any

import pytest
from benchmarks.written.formats import PdfWriter
from benchmarks.written.scanning import save_scan

from longmatch.cli import progress
from longmatch.cli.progress import Countdown, Waiting, shown_progress, stages
from longmatch.documents import ocr
from longmatch.library.indexing import IndexingProgress
from tests import forked

READING = IndexingProgress(2, 36, 0, 0, 1.0, 0.0, 0.1)
BOTH = IndexingProgress(20, 36, 4, 9000, 3.0, 0.2, 0.6, 3, 0.15)
ENCODED = IndexingProgress(36, 36, 36, 9000, 9.0, 1.0, 1.0, 36, 1.0)


def names(*args: Any) -> list[str]:
    return [stage.name for stage in stages(*args)]


def test_each_kind_of_work_is_named_while_it_is_under_way():
    assert names(None) == []
    assert names(READING) == ["reading"]
    assert names(READING, (3, 10)) == ["reading", "OCR"]
    assert names(BOTH) == ["reading", "encoding", "writing"]
    assert names(ENCODED, (10, 10)) == ["writing"]


def test_each_says_how_much_is_done():
    said = {stage.name: (round(stage.share, 2), stage.text) for stage in stages(BOTH, (3, 10))}
    assert said == {
        "reading": (0.6, "20 of 36 files"),
        "OCR": (0.3, "3 of 10 pages"),
        "encoding": (0.2, "4 documents, 3,000 tokens a second"),
        "writing": (0.14, "3 documents"),
    }
    (last,) = stages(ENCODED)
    assert last.text == "the index of 36 documents" and last.share < 1  # which takes seconds


def test_the_time_left_falls_also_between_reports_and_never_to_nothing():
    now = 0.0
    countdown = Countdown(lambda: now)
    countdown.report(0.0)
    assert countdown.left is None
    left = []
    for now in range(1, 9):
        countdown.report(now // 4 * 0.4)  # there is news every four seconds
        left.append(countdown.left)
    assert left == [None, None, None, 6.0, 5.0, 4.0, 3.0, 2.0]
    now = 30.0
    assert countdown.left == 1.0


def test_the_first_file_of_many_says_nothing_of_the_pace():
    now = 0.0
    countdown = Countdown(lambda: now)
    countdown.report(0.0)
    now = 4.0  # most of it went into starting
    countdown.report(0.001)
    assert countdown.left is None
    now = 5.0
    countdown.report(0.1)
    assert countdown.left == 45.0


def test_another_scan_is_counted_from_its_beginning():
    told = Waiting()
    told.report_page(0, 3)
    first = told.countdowns["OCR"]
    told.report_page(3, 3)
    assert told.line() == ""
    told.report_page(0, 2)
    assert told.countdowns["OCR"] is not first and told.line() == "OCR 0 of 2 pages"


def test_in_a_pipe_it_is_said_after_a_while_and_with_each_new_kind_of_work(monkeypatch, capsys):
    monkeypatch.setattr(progress, "PATIENCE", 0.05)
    shown = ""

    def until(words: str) -> None:
        nonlocal shown
        while words not in shown:
            shown += capsys.readouterr().err

    with shown_progress() as report:
        report(READING)
        until("longmatch: reading 2 of 36 files\n")
        ocr.report_page(1, 10)
        until("OCR 1 of 10 pages\n")
        report(BOTH)
        until("encoding 4 documents, 3,000 tokens a second")
    assert shown.count("\n") == 3 and "\x1b" not in shown


def test_in_a_pipe_nothing_is_said_of_what_takes_no_time(longmatch, folder, tmp_path, monkeypatch):
    monkeypatch.setattr(progress, "PATIENCE", 600)
    assert longmatch("index", tmp_path / "library", folder).err == ""


@pytest.mark.parametrize("command", ["index", "rank"])
def test_in_a_pipe_a_first_index_speaks(longmatch, folder, tmp_path, monkeypatch, command):
    monkeypatch.setattr(progress, "PATIENCE", 0.001)
    words = (tmp_path / "library", folder) if command == "index" else (folder / "bank.md", folder)
    ran = longmatch(command, *words)
    assert re.match(r"longmatch: (reading|encoding|writing) ", ran.err), ran.err
    assert "longmatch" not in ran.out and ran.code == 0
    assert longmatch("rank", "bank.md", words[0] if command == "index" else folder).err == ""  # nothing is new


@pytest.mark.slow
def test_the_pages_of_a_scan_are_counted_though_another_process_reads_them(longmatch, tmp_path, monkeypatch):
    writer = PdfWriter()
    for paragraph in ("The harbour wall was raised in 1911.", "Its stones came from the quarry above the town."):
        writer.paragraph(paragraph, "Times-Roman", 12)
    writer.save(tmp_path / "text.pdf")
    save_scan(tmp_path / "text.pdf", tmp_path / "scan.pdf")
    monkeypatch.setattr(progress, "PATIENCE", 0.1)
    ran = longmatch("index", tmp_path / "library", tmp_path / "scan.pdf")
    assert re.search(r"OCR 0 of 1 pages", ran.err) and ran.out.endswith("1 added\n")


def test_on_a_terminal_there_is_a_bar_for_each(folder, tmp_path):
    for number in range(20):
        (folder / f"{number}.txt").write_text(f"The {number} boats came home. " * 300)
    ours, theirs = pty.openpty()
    terminal = Path(os.ttyname(theirs))
    size = {"COLUMNS": "120", "LINES": "30", "TERM": "xterm"}
    process, shown = forked.start(longmatch_command, tmp_path / "library", folder, err=terminal, environment=size), b""
    while process.is_alive() or select([ours], [], [], 0)[0]:
        if select([ours], [], [], 0.1)[0]:
            shown += os.read(ours, 65536)
    os.close(theirs)
    os.close(ours)
    assert process.exitcode == 0
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown.decode())
    assert re.search(r"encoding [\d,]+ documents?, [\d,]+ tokens a second \S+ +\d+:\d\d left", text), text
    assert "writing " in text


def longmatch_command(library: Path, folder: Path) -> None:
    forked.longmatch("index", library, folder)
