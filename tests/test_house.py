"""The house of docs/design.md: two floors, imports that point one way, no circles."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from benchmarks.house import circles
from benchmarks.house import modules as house_modules

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "longmatch"
PRODUCT = (  # lowest first
    "errors",
    "addresses",
    "controls",
    "ragged",
    "parallel",
    "cache",
    "documents",
    "units",
    "encoders",
    "reuse",
    "matching",
    "lexical",
    "default",
    "models",
    "library",
    "render",
    "distributed",
    "assistants",
    "web",
    "cli",
)
LABORATORY = (  # lowest first, all above the product
    "lab.encoders",
    "lab.words",
    "lab.losses",
    "lab.matchers",
    "lab.explanation",
    "lab.datasets",
    "lab.store",
    "lab.training",
    "lab.baselines",
    "lab.papers",
    "lab.evaluation",
    "lab.default",
    "lab.cli",
)
HOUSE = (*PRODUCT, *LABORATORY)
OPEN_CIRCLES = {
    "longmatch.documents.read",
    "longmatch.lab.encoders.packed.bert",
}  # a module of each circle that is still to be opened
DOORS = (
    "longmatch",
    "longmatch.__main__",
    "longmatch.addresses",
    "longmatch.models.registry",
    "longmatch.lab.models",
)  # name both floors, and import when a name is used


@cache
def modules() -> dict[str, Path]:
    """Every file of the package by its dotted name."""
    files = {file: (*file.relative_to(SOURCE).with_suffix("").parts,) for file in SOURCE.rglob("*.py")}
    return {".".join(["longmatch", *parts]).removesuffix(".__init__"): file for file, parts in files.items()}


def imported(code: str, home: str) -> Iterator[str]:
    """The modules a file of the package `home` imports; at any depth, with those that strings name as addresses."""
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = home.split(".")[: len(home.split(".")) + 1 - node.level] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            yield from (f"{base}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Constant) and re.fullmatch(r"longmatch(\.(?!json$)\w+)+(:\w+)?", str(node.value)):
            yield str(node.value).partition(":")[0]


def room(module: str) -> str:
    """The entry of HOUSE that a module belongs to; empty for the front door.

    >>> room("longmatch.lab.papers.colde.loss"), room("longmatch.units.pieces"), room("longmatch")
    ('lab.papers', 'units', '')
    """
    parts = module.split(".")[1:]
    return ".".join(parts[: 2 if parts[:1] == ["lab"] else 1])


def upward(code: str, module: str, is_package: bool = False) -> list[str]:
    """What a file imports from higher up, or from the front door `longmatch` itself."""
    home = module if is_package else module.rpartition(".")[0]
    floor = HOUSE.index(room(module))
    own = [name for name in imported(code, home) if name.split(".")[0] == "longmatch"]
    return [name for name in own if room(name) not in HOUSE[: floor + 1]]


@pytest.mark.parametrize("entry", HOUSE)
def test_a_room_imports_nothing_from_above(entry):
    found = {
        module: names
        for module, file in modules().items()
        if room(module) == entry and module not in DOORS
        if (names := upward(file.read_text(encoding="utf-8"), module, file.name == "__init__.py"))
    }
    assert not found


def test_every_file_has_its_room():
    rooms = {room(module) for module in modules() if module not in DOORS} - {"lab"}
    assert rooms | {"addresses"} == set(HOUSE)


def test_the_product_never_names_the_laboratory():
    found = {
        module
        for module, file in modules().items()
        if room(module) in PRODUCT and module not in DOORS
        if re.search(r"longmatch\.lab\b", file.read_text(encoding="utf-8"))
    }
    assert not found


@pytest.mark.parametrize("library", ["torch", "transformers", "sklearn", "accelerate", "sentence_transformers"])
def test_the_product_imports_no_library_of_the_laboratory(library):
    found = {
        module
        for module, file in modules().items()
        if room(module) in PRODUCT
        if library in {name.split(".")[0] for name in imported(file.read_text(encoding="utf-8"), "")}
    }
    assert not found


def test_no_files_import_each_other_in_a_circle():
    """Nor inside functions; what type checkers alone read (`TYPE_CHECKING`) binds nothing, and is not counted."""
    found = circles(house_modules())
    assert [circle for circle in found if not any(OPEN_CIRCLES & set(circle))] == []


@pytest.mark.parametrize(
    "code",
    [
        "from longmatch.models.loading import load",
        "import longmatch.models.loading",
        "from longmatch import library",
        "from longmatch import load",
        "import longmatch",
        "from ..library import Library",
        "from longmatch.lab.words import textrank_similarity",
        "def later():\n    from longmatch.models.loading import load",
        "import_module('longmatch.models.loading')",
        "import_module('longmatch.lab.papers.colde.matcher:ColdeMatcher')",
    ],
)
def test_an_upward_import_is_seen_however_it_is_written(code):
    assert upward(code, "longmatch.matching.align")


@pytest.mark.parametrize("code", ["from longmatch.units import pieces", "from . import align", "import numpy"])
def test_a_downward_import_is_allowed(code):
    assert not upward(code, "longmatch.matching.align")


def test_the_design_page_lists_every_folder_in_this_order():
    page = (ROOT / "docs" / "design.md").read_text(encoding="utf-8")
    listed = [name.replace("/", ".") for name in re.findall(r"^\| `([\w/]+)/` \|", page, flags=re.MULTILINE)]
    folders = {room(module) for module, file in modules().items() if file.name == "__init__.py"} - {"", "lab"}
    assert folders == set(listed)
    for floor in (PRODUCT, LABORATORY):
        assert [name for name in listed if name in floor] == [name for name in reversed(floor) if name in listed]
