"""The pages of the documentation, their links and their blocks of code."""

import ast
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from itertools import dropwhile, takewhile
from pathlib import Path

import longmatch
from longmatch.addresses import PUBLIC

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
COPIED = {"contributing.md", "changelog.md"}  # of the root, onto the site
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
        """The `longmatch` commands in it, as words, without what a shell does with their input and output."""
        lines = self.code.replace("\\\n", " ").splitlines()
        if self.language == "console":
            lines = [line for line in lines if line.startswith("$ ")]
        asked = [list(takewhile(lambda word: word[0] not in "|<>", _words(line))) for line in lines]
        return [words[1:] for words in asked if words[:1] == ["longmatch"]]


def _words(line: str) -> Iterator[str]:
    """The words of a line as a shell takes them, from the command on: after a prompt and variables that it sets."""
    lexer = shlex.shlex(line.removeprefix("$ "), posix=True, punctuation_chars="|<>")
    lexer.whitespace_split = True
    try:
        return dropwhile(re.compile(r"[A-Z_]+=").match, [word for word in lexer if word])
    except ValueError:  # prose with an apostrophe, in a block that is no shell's
        return iter(())


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
