"""A document as a reader of a revision sees it: headings and paragraphs, cut into words with their punctuation."""

import re
from bisect import bisect_left
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple
from unicodedata import normalize

import numpy as np

from longmatch.documents.document import Document
from longmatch.reuse.shingles import Ints
from longmatch.reuse.words import CJK, WORD, Vocabulary

OPENING = 30  # units of a section that are looked at for its heading and first words
_LAYOUT = str.maketrans({"\u2018": "'", "\u2019": "'", "\u201c": '"', "\u201d": '"', "\u00ad": "", "\u2010": "-"})
_BROKEN = re.compile(r"-\s*")  # words broken at the end of a line
_UNIT = re.compile(rf"\d++(?:[.,'’]\d++)++|{WORD.pattern}")  # an amount is one word: it changes as a whole
_UNSPACED = re.compile(rf"[{CJK}\u3000-\u303f\uff00-\uffef]$")


@dataclass(frozen=True)
class TextBlock:
    """A heading or a paragraph."""

    section: int
    kind: str  # "heading", or the kind of the paragraph
    level: int  # of the section


class Unit(NamedTuple):
    """A word with the punctuation around it."""

    text: str
    block: int
    spaced: bool  # whether a space follows

    def altered(self, other: "Unit") -> bool:
        """Whether a reader sees a change: not in hyphenation, nor in the shape of quotation marks."""
        return self.text != other.text and self._content != other._content

    @property
    def _content(self) -> str:
        return _BROKEN.sub("", normalize("NFKC", self.text.translate(_LAYOUT)))


@dataclass(frozen=True)
class TextUnits:
    """The units of a document, the numbers of their words, and the blocks they belong to."""

    units: tuple[Unit, ...]
    ids: Ints
    blocks: tuple[TextBlock, ...]

    @property
    def characters(self) -> bool:
        """Whether most units are single characters, as in Chinese."""
        return 2 * sum(1 for unit in self.units if _UNSPACED.search(unit.text)) > len(self.units)

    @cached_property
    def sections(self) -> list[int]:
        """The section of each unit."""
        return [self.blocks[unit.block].section for unit in self.units]

    def opening(self, section: int) -> str:
        """A section's first words below its heading; may be empty."""
        start = bisect_left(self.sections, section)
        first = (unit for unit in self.units[start : start + OPENING] if self.blocks[unit.block].section == section)
        below = (unit for unit in first if self.blocks[unit.block].kind != "heading")
        return "".join(unit.text + " " * unit.spaced for unit in below).strip()

    @staticmethod
    def of(document: Document, vocabulary: Vocabulary) -> "TextUnits":
        """All headings and paragraphs of a document, tables and references too."""
        units: list[Unit] = []
        ids: list[int] = []
        blocks: list[TextBlock] = []
        for number, section in enumerate(document.sections):
            level = min(max(section.level, 1), 4)
            texts = [("heading", section.heading)] if section.heading.strip() else []
            texts += [(paragraph.kind, paragraph.of(document.readable)) for paragraph in section.paragraphs]
            for kind, text in texts:
                for word, unit, spaced in _cut(" ".join(text.split())):
                    units.append(Unit(unit, len(blocks), spaced))
                    ids.append(vocabulary(word))
                blocks.append(TextBlock(number, kind, level))
        return TextUnits(tuple(units), np.array(ids, dtype=np.int64), tuple(blocks))


def _cut(text: str) -> list[tuple[str, str, bool]]:
    """Each word, the text around it up to the next word, and whether a space follows.

    >>> _cut("“Yes,” he said.")
    [('Yes', '“Yes,”', True), ('he', 'he', True), ('said', 'said.', True)]
    >>> _cut("Rs. 2,10,000 on 3.5.")
    [('Rs', 'Rs.', True), ('2,10,000', '2,10,000', True), ('on', 'on', True), ('3.5', '3.5.', True)]
    """
    found = list(_UNIT.finditer(text))
    if not found:
        return [(text, text, True)] if text else []
    starts = [0, *(_opening(text, left.end(), right.start()) for left, right in pairwise(found))]
    cut = []
    for match, start, end in zip(found, starts, [*starts[1:], len(text)], strict=True):
        unit = text[start:end]
        last = end == len(text) and not _UNSPACED.search(unit)
        cut.append((match[0], unit.strip(), unit.endswith(" ") or last))
    return cut


def _opening(text: str, end: int, start: int) -> int:
    """Where the next unit begins between two words: after the last space, so that brackets stay with their word."""
    space = text.rfind(" ", end, start)
    return space + 1 if space >= 0 else start
