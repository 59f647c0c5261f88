"""The commands and the code of the documentation are those of the program, and those that can run, do."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from shutil import copytree

import pytest
import typer

from longmatch.cli.app import app, main
from longmatch.encoders.backbone import Backbone
from tests.docs.pages import DOCS, ROOT, Block, assert_names_exist, blocks

RUN = ("README.md", "docs/index.md", "docs/start/", "docs/guides/")
"""Pages whose console and Python blocks all run, in order, on the example collection. Elsewhere they name files of the
reader's, so that only their names are checked; `sh` blocks always do."""


def runs(block: Block) -> bool:
    return block.page.relative_to(ROOT).as_posix().startswith(RUN)


def option_names(words: list[str]) -> tuple[set[str], list[str]]:
    """The options that a command knows, and those that it is given."""
    command = typer.main.get_command(app)
    rest = list(words)
    while rest and hasattr(command, "commands") and rest[0] in command.commands:
        command = command.commands[rest.pop(0)]
    assert not hasattr(command, "commands") or not rest or rest[0].startswith("-"), f"there is no command {words}"
    known = {name for param in command.params for name in (*param.opts, *param.secondary_opts)} | {"--help"}
    return known, [word.partition("=")[0] for word in rest if word.startswith("-") and word != "-"]


@pytest.mark.parametrize("block", list(blocks("console", "sh", "bash", "")), ids=lambda block: block.name)
def test_commands_and_their_options_exist(block):
    for words in block.commands:
        known, given = option_names(words)
        assert set(given) <= known, words


@pytest.mark.parametrize("block", list(blocks("python")), ids=lambda block: block.name)
def test_python_is_valid_and_names_what_exists(block):
    assert_names_exist(block.code)


@pytest.fixture(scope="module")
def reader(tmp_path_factory, matcher) -> Iterator[Path]:
    """A folder with the examples, where a reader follows the pages; the model reads no sentence twice."""
    folder = tmp_path_factory.mktemp("reader")
    copytree(ROOT / "examples", folder / "examples")
    (folder / "out").mkdir()
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setattr(Backbone, "load", lambda *_, **__: matcher.backbone)
        yield folder


@pytest.mark.parametrize(
    "block", [b for b in blocks("console") if runs(b) and b.commands], ids=lambda block: block.name
)
def test_console_blocks_run_on_the_example_collection(block, reader, monkeypatch, capsys):
    for words in block.commands:
        monkeypatch.setattr(sys, "argv", ["longmatch", *words])
        with pytest.raises(SystemExit) as left:
            main()
        found = capsys.readouterr()
        assert not left.value.code, f"longmatch {' '.join(words)}: {found.err}"
        assert found.out


def python_pages() -> list[Path]:
    return list(dict.fromkeys(block.page for block in blocks("python") if runs(block)))


@pytest.mark.parametrize("page", python_pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_python_blocks_run_one_after_the_other(page, reader, capsys):
    names: dict[str, object] = {}
    for block in blocks("python"):
        if block.page == page:
            exec(compile(block.code, str(page), "exec"), names)
    assert capsys.readouterr().out


def test_the_pages_that_run_are_there():
    assert {
        block.page.relative_to(DOCS).parts[0]
        for block in blocks("console")
        if runs(block) and DOCS in block.page.parents
    } >= {
        "start",
        "guides",
        "index.md",
    }
    assert os.fspath(DOCS / "guides" / "python.md") in map(os.fspath, python_pages())
