"""Imports point one way, down the list of folders in docs/design.md."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "longmatch"
HOUSE = (  # lowest first
    "errors",
    "parallel",
    "documents",
    "units",
    "encoders",
    "matching",
    "losses",
    "models",
    "datasets",
    "training",
    "evaluation",
    "library",
    "distributed",
    "web",
    "cli",
)
FOLDERS = sorted(path.parent.name for path in SOURCE.glob("*/__init__.py"))


def imported(code: str, home: str) -> Iterator[str]:
    """The modules a file of the package `home` imports at any depth, those named in strings for import_module too."""
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = home.split(".")[: len(home.split(".")) + 1 - node.level] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            yield from (f"{base}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Constant) and re.fullmatch(r"longmatch(\.(?!json$)\w+)+(:\w+)?", str(node.value)):
            yield str(node.value)


def upward(code: str, home: str) -> list[str]:
    """What a file of the package `home` imports from higher up, or from the front door `longmatch` itself."""
    floor = HOUSE.index(home.split(".")[1])
    own = [name.split(".") for name in imported(code, home) if name.split(".")[0] == "longmatch"]
    return [".".join(name) for name in own if len(name) < 2 or name[1] not in HOUSE[: floor + 1]]


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_folder_imports_nothing_from_above(folder):
    found = {
        str(file.relative_to(SOURCE)): names
        for file in sorted((SOURCE / folder).rglob("*.py"))
        if (names := upward(file.read_text(encoding="utf-8"), ".".join(["longmatch", *_package(file)])))
    }
    assert not found


@pytest.mark.parametrize(
    "code",
    [
        "from longmatch.models.load import load",
        "import longmatch.models.load",
        "from longmatch import models",
        "from longmatch import load",
        "import longmatch",
        "from ..models import load",
        "def later():\n    from longmatch.models.load import load",
        "import_module('longmatch.models.load')",
    ],
)
def test_an_upward_import_is_seen_however_it_is_written(code):
    assert upward(code, "longmatch.matching")


@pytest.mark.parametrize("code", ["from longmatch.units import cut", "from . import align", "import numpy"])
def test_a_downward_import_is_allowed(code):
    assert not upward(code, "longmatch.matching")


def test_the_design_page_lists_every_folder_in_this_order():
    page = (ROOT / "docs" / "design.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\| `(\w+)/` \|", page, flags=re.MULTILINE)
    assert set(FOLDERS) <= set(listed)
    assert listed == sorted(listed, key=HOUSE.index, reverse=True)


def _package(file: Path) -> tuple[str, ...]:
    return file.relative_to(SOURCE).parent.parts
