"""The commands and the code of the documentation are those of the program, and those that can run, do."""

import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from shutil import copy, copytree
from typing import Any

import click
import pytest
import typer
import uvicorn

from longmatch.cli.app import app, main
from longmatch.encoders.backbone import Backbone
from longmatch.matching.matcher import Matcher
from tests.docs.pages import ROOT, Block, assert_names_exist, blocks

RUN = ("README.md", "docs/index.md", "docs/start/", "docs/guides/")
"""Pages whose Python and `longmatch` commands run, in order, in a folder that has the examples and what is named here.
Elsewhere they are parsed."""

FILES = {
    "my-paper.pdf": "collection/step-rate-and-tibial-damage.pdf",
    "papers/rain.pdf": "collection/weather-radar-at-night.pdf",
    "papers/shins.docx": "collection/shin-bone-protocol.docx",
    "a.pdf": "collection/laboratory-analyst-ruling.pdf",
    "b.docx": "collection/shin-bone-protocol.docx",
    "v1.docx": "collection/allocation-rules-for-dry-years.docx",
    "v2.docx": "collection/allocation-rules-for-dry-years.docx",
    "folder/bees.md": "crosslingual/bees.en.md",
    "folder/tea.md": "crosslingual/tea.en.md",
    "frage.md": "crosslingual/bees.de.md",
    "bienen.md": "crosslingual/bees.de.md",
    "bees.md": "crosslingual/bees.en.md",
}
"""What the pages call the files of their readers."""

ELSEWHERE = ("docs/guides/own-labels.md",)
"""Guides whose commands want labels and an hour: tests/lab run such."""

SLOW = ("docs/guides/languages.md",)
"""It makes another model ready, which takes minutes."""


def runs(block: Block) -> bool:
    name = block.page.relative_to(ROOT).as_posix()
    return name.startswith(RUN) and name not in ELSEWHERE and (block.language == "python" or bool(block.commands))


def shell_blocks() -> list[Block]:
    return [block for block in blocks("console", "sh", "bash", "") if block.commands]


@pytest.mark.parametrize("block", shell_blocks(), ids=lambda block: block.name)
def test_commands_are_those_the_program_understands(block):
    for words in block.commands:
        parse(words)


def parse(words: list[str]) -> None:
    """By the program's own parser; click.UsageError where it does not understand."""
    command, rest = typer.main.get_command(app), list(words)
    while rest and hasattr(command, "commands") and not rest[0].startswith("-"):
        assert rest[0] in command.commands, f"there is no command {words}"
        command = command.commands[rest.pop(0)]
    with suppress(click.exceptions.Exit, typer.Exit):  # --help and --version answer at once
        command.make_context("longmatch", rest)


@pytest.mark.parametrize("block", list(blocks("python")), ids=lambda block: block.name)
def test_python_is_valid_and_names_what_exists(block):
    assert_names_exist(block.code)


@pytest.fixture
def reader(tmp_path: Path, matcher: Matcher, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the examples and a reader's files, and nothing else; the model reads no sentence twice."""
    copytree(ROOT / "examples", tmp_path / "examples")
    for name, example in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        copy(ROOT / "examples" / example, tmp_path / name)
    load = Backbone.load
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(Backbone, "load", lambda name=None, **how: load(name, **how) if name else matcher.backbone)
    monkeypatch.setattr(uvicorn.Server, "run", lambda *_, **__: None)  # a server that somebody stops at once
    return tmp_path


def pages_that_run() -> Iterator[Any]:
    for page in dict.fromkeys(block.page for block in blocks("console", "sh", "python") if runs(block)):
        name = page.relative_to(ROOT).as_posix()
        yield pytest.param(page, id=name, marks=[pytest.mark.slow] if name in SLOW else [])


@pytest.mark.parametrize("page", list(pages_that_run()))
def test_what_a_page_shows_runs_in_order(page, reader, monkeypatch, capsys):
    def longmatch(*words: str) -> None:
        served = ["--port", "0"] if words[0] == "serve" else []  # any that is free
        monkeypatch.setattr(sys, "argv", ["longmatch", *words, *served])
        with pytest.raises(SystemExit) as left:
            main()
        shown = capsys.readouterr()
        assert not left.value.code and shown.out, f"longmatch {' '.join(words)}: {shown.err}"

    names: dict[str, object] = {}
    for block in blocks("console", "sh", "python"):
        if block.page == page and runs(block):
            run_block(block, names, longmatch)


def run_block(block: Block, names: dict[str, object], longmatch: Callable[..., None]) -> None:
    if block.language == "python":
        exec(compile(block.code, str(block.page), "exec"), names)
    for words in block.commands if block.language != "python" else ():
        if "library" in words and words[0] != "index" and not Path("library").exists():
            longmatch("index", "library", "papers")  # which README's text tells how to make
        longmatch(*words)


def test_the_pages_that_run_are_there():
    names = {page.id for page in pages_that_run()}
    assert names >= {"README.md", "docs/index.md", "docs/guides/python.md", "docs/start/first-steps.md"}
    assert len([name for name in names if name.startswith("docs/guides/")]) >= 6
