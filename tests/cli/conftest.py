"""The command as the user runs it, and small folders of documents."""

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from longmatch.cli import progress
from longmatch.cli.app import main

TEXTS = {
    "bank.md": "# The run\n\nThe bank failed on Monday. Depositors queued for their savings all night.\n\n"
    "## After\n\nThe regulator closed its doors. Nobody was paid in full.\n",
    "queue.txt": "Depositors of the failed bank queued in the rain. The regulator said their savings were safe.\n",
    "ledger.html": "<h1>Ledger</h1><p>A bank run begins when depositors doubt their savings.</p>",
    "snow.txt": "Snow fell on the northern hills. The road over the pass was shut until noon.\n",
    "pears.txt": "The pear trees were watered by probe. Fruit set well and the crop was heavy.\n",
}


@dataclass(frozen=True)
class Ran:
    """What a run of the command left."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        assert self.code == 0, self.err
        return json.loads(self.out)

    @property
    def complaint(self) -> str:
        """The one sentence on standard error of a run that failed."""
        assert (self.code, self.out) == (2, "")
        assert self.err.count("\n") == 1 and self.err.endswith("\n") and "Traceback" not in self.err, self.err
        return self.err.removeprefix("longmatch: ").strip()


@pytest.fixture
def longmatch(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., Ran]:
    """Run the command in this process, which says nothing of how long the machine takes."""
    monkeypatch.setattr(progress, "PATIENCE", 600.0)

    def run(*arguments: object) -> Ran:
        monkeypatch.setattr(sys, "argv", ["longmatch", *map(str, arguments)])
        capsys.readouterr()
        with pytest.raises(SystemExit) as left:
            main()
        return Ran(int(left.value.code or 0), *capsys.readouterr())

    return run


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Five documents, three of them on one subject."""
    place = tmp_path / "documents"
    place.mkdir()
    for name, text in TEXTS.items():
        (place / name).write_text(text, encoding="utf-8")
    return place
