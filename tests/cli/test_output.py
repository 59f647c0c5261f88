"""What strangers wrote reaches the terminal as text alone, whichever command prints it."""

import ast
import json
import re
import sys
from io import StringIO
from pathlib import Path

import pytest
from rich.control import Control
from rich.table import Table

from longmatch.cli import output
from longmatch.controls import CONTROLS
from tests.cli.conftest import TEXTS

COMMANDS = "\x1b]52;c;ZXZpbA==\x07\x1b[2J\x9b31m\x9d0;evil\x9c\u202egnp\u2066.exe\x08\r"
CLI = [Path(output.__file__).parent, Path(output.__file__).parents[1] / "lab" / "cli"]


@pytest.fixture
def hostile(folder: Path) -> Path:
    """Records, files and texts whose names, titles, headings and words hold commands."""
    records = []
    for name, text in TEXTS.items():
        sections = [
            {"heading": f"Heading {COMMANDS}", "text": text.replace("The ", f"The {COMMANDS} ") + str(n)}
            for n in range(2)
        ]
        facts = {"id": f"{name}{COMMANDS}", "title": f"Title {COMMANDS} of {name}", f"key{COMMANDS}": COMMANDS}
        records.append(facts | {"sections": sections})
    lines = [json.dumps(record) for record in records] + [json.dumps({"id": f"empty{COMMANDS}", "text": ""})]
    (folder / "h.jsonl").write_text("\n".join(lines))
    for name in ("bad\x1b[2J\u202e.pdf", "notes\x1b[2J.md", "sheet\x1b[2J.x\x9bls"):
        (folder / name).write_text("# Notes\n\nThe \x1b[2J bank failed on a Monday.\n")
    return folder


def test_no_command_lets_what_strangers_wrote_command_the_terminal(longmatch, hostile, tmp_path):
    library, records = tmp_path / "library", hostile / "h.jsonl"
    one, two = hostile / "notes\x1b[2J.md", hostile / "bank.md"
    ran = [
        longmatch("index", library, hostile),
        longmatch("index", library, hostile, "--json"),
        longmatch("show", library),
        longmatch("show", library, "--json"),
        longmatch("show", library, "--find", "bank"),
        longmatch("read", one),
        longmatch("read", one, "--json"),
        longmatch("read", records),
        longmatch("compare", one, two),
        longmatch("compare", one, two, "--json"),
        longmatch("rank", one, library),
        longmatch("rank", one, library, "--json"),
        longmatch("rank", "the bank failed", library, "--by", "section"),
        longmatch("rank", one, library, "--where", f"'{COMMANDS}' = nothing"),
        longmatch("pairs", library),
        longmatch("pairs", library, "--json"),
        longmatch("remove", library, f"absent{COMMANDS}"),
        longmatch("read", tmp_path / f"absent{COMMANDS}.pdf"),
    ]
    ids = [row["id"] for row in longmatch("show", library, "--json").json["documents"]]
    assert any("\x1b" in id for id in ids) and len(ids) > 9  # they are stored as they are
    for id in [id for id in ids if "\x1b" in id][:2]:
        ran += [longmatch("show", library, id), longmatch("show", library, id, "--json")]
        ran += [longmatch("rank", id, library), longmatch("remove", library, id)]
    for said in ran:
        assert not CONTROLS.search(said.out + said.err), said
    assert sum("Title" in said.out for said in ran) > 5  # not all were refused


def test_colours_and_progress_keep_their_own_codes(monkeypatch):
    monkeypatch.delenv("NO_COLOR", raising=False)
    out = StringIO()
    terminal = output.Terminal(file=out, force_terminal=True, color_system="standard", width=60)
    table = Table("id", "title")
    table.add_row(f"[red]a{COMMANDS}", "b")
    terminal.print(table)
    terminal.control(Control.home())
    assert "\x1b[31m" in out.getvalue() and "\x1b[H" in out.getvalue()
    assert "\x1b]" not in out.getvalue() and "\x1b[2J" not in out.getvalue()
    assert len({len(line) for line in plain(out.getvalue()).splitlines()[:5]}) == 1  # the columns stand


def plain(text: str) -> str:
    """The text without the codes of colours and places."""
    return re.sub(r"\x1b\[[0-9;]*[mH]", "", text)


def test_exact_output_is_exact_but_on_a_terminal(monkeypatch):
    for is_terminal, shown in ((False, "a\x1b[2Jb\n"), (True, "a\ufffd[2Jb\n")):
        out = StringIO()
        out.isatty = lambda is_terminal=is_terminal: is_terminal
        monkeypatch.setattr(sys, "stdout", out)
        with output.exact_output() as file:
            file.write("a\x1b[2Jb\n")
        assert out.getvalue() == shown


def test_commands_print_through_one_module_alone():
    others = []
    for file in (file for folder in CLI for file in folder.glob("*.py") if file != Path(output.__file__)):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            called = ast.unparse(node.func) if isinstance(node, ast.Call) else ""
            if called in ("print", "Console", "typer.echo", "sys.stdout.write", "sys.stderr.write"):
                others.append(f"{file.name}:{node.lineno} {called}")
    assert not others
