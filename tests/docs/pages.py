"""The pages of the documentation, their links and their blocks of code."""

import ast
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import longmatch
from longmatch.registry import PUBLIC

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
GENERATED = {"reference/commands.md", "reference/python.md", "reference/rest.md", "contributing.md", "changelog.md"}
_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\]\(([^)\s]+)\)")


@dataclass(frozen=True)
class Block:
    """A fenced block of a page."""

    page: Path
    language: str
    code: str

    @property
    def name(self) -> str:
        return f"{self.page.relative_to(ROOT)}: {self.code.splitlines()[0][:50]}"

    @property
    def commands(self) -> list[list[str]]:
        """The `longmatch` commands in it, as words; those with a pipe or a variable are a shell's."""
        lines = [line.removeprefix("$ ") for line in self.code.replace("\\\n", " ").splitlines()]
        if self.language == "console":
            lines = [line.removeprefix("$ ") for line in self.code.splitlines() if line.startswith("$ ")]
        asked = [line for line in lines if line.startswith("longmatch ") and not set("|>$") & set(_uncommented(line))]
        return [shlex.split(line, comments=True)[1:] for line in asked]


def _uncommented(line: str) -> str:
    quoted = re.sub(r"\"[^\"]*\"|'[^']*'", "", line)
    return quoted.partition(" #")[0]


def pages() -> list[Path]:
    """Every page that people read, of the site and beside it."""
    beside = [path for path in ROOT.glob("*.md") if path.name != "LICENSE"]
    return sorted([*DOCS.rglob("*.md"), *beside, ROOT / "examples" / "README.md"])


def blocks(*languages: str) -> Iterator[Block]:
    for page in pages():
        for language, code in _BLOCK.findall(page.read_text(encoding="utf-8")):
            if language in languages:
                yield Block(page, language, code)


def assert_names_exist(code: str) -> None:
    """The code is valid Python, and what it imports of longmatch, or takes from it, is there."""
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("longmatch"):
            module = import_module(node.module)
            assert all(hasattr(module, alias.name) for alias in node.names), ast.unparse(node)
        if (
            isinstance(node, ast.Attribute)
            and isinstance(node.value, ast.Name)
            and node.value.id in ("lm", "longmatch")
        ):
            assert node.attr in PUBLIC or hasattr(longmatch, node.attr), node.attr


def links(page: Path) -> list[str]:
    """The links of a page to files of the repository, and to its own headings."""
    text = _BLOCK.sub("", page.read_text(encoding="utf-8"))
    text = re.sub(r"`[^`\n]*`", "", text)
    return [link for link in _LINK.findall(text) if not re.match(r"[a-z]+:", link)]


def anchors(page: Path) -> set[str]:
    """The addresses of a page's headings."""
    text = _BLOCK.sub("", page.read_text(encoding="utf-8"))
    found: dict[str, int] = {}
    for heading in re.findall(r"^#+ (.+)$", text, flags=re.MULTILINE):
        plain = re.sub(r"[^\w\s-]", "", heading).strip().lower()
        slug = re.sub(r"[\s-]+", "-", plain)
        found[slug] = found.get(slug, -1) + 1
    return set(found)
