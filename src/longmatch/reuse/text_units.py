"""A document as a reader of a revision sees it: headings, paragraphs and tables, cut into words with their signs."""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from longmatch.documents.document import Document, Section, Span
from longmatch.reuse.words import CJK, Ints, Vocabulary, Words, cut

OPENING_UNITS = 30  # units of a section that are looked at for its heading and first words
_UNSPACED = re.compile(rf"[{CJK}\u3000-\u303f\uff00-\uffef]$")


@dataclass(frozen=True)
class TextBlock:
    """A heading, a paragraph or a table."""

    section: int
    kind: str  # "heading", or the kind of the paragraph
    level: int  # of the section
    text: str = ""  # of a table


class Unit(NamedTuple):
    """A word with the signs around it."""

    text: str
    block: int
    space: str  # that follows; a row of a table ends with its line


@dataclass(frozen=True)
class TextUnits:
    """The units of a document, as numbers too, and the blocks they belong to."""

    units: tuple[Unit, ...]
    words: Words
    blocks: tuple[TextBlock, ...]

    @property
    def ids(self) -> Ints:
        """The numbers of the words, case and signs aside."""
        return self.words.ids

    @property
    def characters(self) -> bool:
        """Whether most units are single characters, as in Chinese."""
        return self.words.characters

    @cached_property
    def sections(self) -> list[int]:
        """The section of each unit."""
        return [self.blocks[unit.block].section for unit in self.units]

    def opening(self, section: int) -> str:
        """A section's first words below its heading; may be empty."""
        start = bisect_left(self.sections, section)
        first = (unit for unit in self.units[start : start + OPENING_UNITS] if self.blocks[unit.block].section == section)
        below = (unit for unit in first if self.blocks[unit.block].kind != "heading")
        return "".join(unit.text + unit.space for unit in below).strip()

    @staticmethod
    def of(document: Document, vocabulary: Vocabulary) -> "TextUnits":
        """All headings and paragraphs of a document, tables and references too."""
        blocks: list[TextBlock] = []
        texts: list[tuple[str, Span, int]] = []
        for number, section in enumerate(document.sections):
            level = min(max(section.level, 1), 4)
            if section.heading.strip():
                blocks.append(TextBlock(number, "heading", level))
                texts.append(_heading(document, section))
            for paragraph in section.paragraphs:
                text = paragraph.of(document.readable) if paragraph.kind == "table" else ""
                blocks.append(TextBlock(number, paragraph.kind, level, text))
            texts += [(document.readable, paragraph, 0) for paragraph in section.paragraphs]
        words, tokens = cut(texts, vocabulary)
        return TextUnits(tuple(_units(tokens, blocks)), words, tuple(blocks))


def _heading(document: Document, section: Section) -> tuple[str, Span, int]:
    """A text that holds the heading, where in it, and where that text begins in the document."""
    heading, limit = section.heading, section.paragraphs[0].start if section.paragraphs else section.end
    start = document.readable.find(heading, section.start, limit)
    if start >= 0:
        return document.readable, Span(start, start + len(heading)), 0
    return heading, Span(0, len(heading)), section.start  # its line breaks or its markup are no part of it


def _units(tokens: Sequence[Sequence[str]], blocks: Sequence[TextBlock]) -> Iterator[Unit]:
    """The units of each block's tokens."""
    known: dict[str, tuple[str, str]] = {}  # most tokens stand in a text many times
    for number, (found, block) in enumerate(zip(tokens, blocks, strict=True)):
        for token in found[:-1]:
            if token not in known:
                known[token] = _written(token)
            text, space = known[token]
            yield Unit(text, number, space if block.kind == "table" else space and " ")
        for token in found[-1:]:
            yield Unit(_written(token)[0], number, "" if _UNSPACED.search(token.rstrip()) else " ")


def _written(token: str) -> tuple[str, str]:
    """A token without the white space around it, and what follows it: nothing, a space or the next line."""
    text = token.rstrip()
    space = token[len(text) :]
    return " ".join(text.split()), "\n" if "\n" in space else " " if space else ""
