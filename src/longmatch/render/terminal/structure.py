"""The structure a reader saw in a document."""

from collections import Counter

from rich.console import Console
from rich.text import Text
from rich.tree import Tree

from longmatch.documents.document import RUNNING_KINDS, Document, Section
from longmatch.render.terminal.printable import printable
from longmatch.render.wording import bibliographic, count, facts, label


def print_structure(document: Document, console: Console) -> None:
    """Print title, size, author, year and DOI, the tree of sections, and how many paragraphs of each kind there are."""
    console.print(Text(printable(document.title), "bold"))
    console.print(Text(facts(document)))
    if known := bibliographic(document):
        console.print(Text(printable(known)))
    console.print()
    top = Tree("", hide_root=True)
    branches: list[tuple[int, Tree]] = [(0, top)]
    for section in document.sections:
        while branches[-1][0] >= section.level:
            branches.pop()
        branches.append((section.level, branches[-1][1].add(_line(document, section))))
    console.print(top)
    kinds = Counter(paragraph.kind for paragraph in document.paragraphs)
    if kinds:
        console.print()
        console.print(Text("Paragraphs by kind: " + ", ".join(_kind(*item) for item in kinds.most_common()) + "."))


def _line(document: Document, section: Section) -> Text:
    sentences = sum(len(paragraph.sentences) for paragraph in section.paragraphs)
    name = label(section.heading, document.readable[section.start : section.start + 200])
    sizes = f"  {count(len(section.paragraphs), 'paragraph')}, {count(sentences, 'sentence')}"
    return Text.assemble(printable(name), (sizes, "dim"))


def _kind(kind: str, number: int) -> str:
    return f"{number:,} {kind}{'' if kind in RUNNING_KINDS else ' (not scored)'}"
