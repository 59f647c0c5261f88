"""One of two versions of a text, as its sections: their headings, levels and words."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from longmatch.documents.document import Document, Section, Span
from longmatch.reuse.words import CJK, Flags, Ints, Vocabulary, Words, cut

OPENING_UNITS = 30  # units of a section that are looked at for its heading and first words
OPENING = 6  # words that a section without a heading is called by
LONGEST_HEADING = 300  # characters of a heading that are looked at
_NAMES = (
    r"chapter|part|section|article|clause|paragraphs?|appendix|annex|schedule|exhibit|book|title|kapitel|teil|abschnitt|"
    r"artikel|anhang|chapitre|partie|annexe|capítulo|sección|artículo|anexo|capitolo|articolo|глава|раздел|часть|статья"
)
_DECIMAL = r"\d{1,4}[a-z]?(?:[.\-–/]\d{1,4}[a-z]?){0,6}(?![\w%])"
_ROMAN = r"[IVXLC]{1,8}"
_CHINESE = r"[一二三四五六七八九十百零〇\d]{1,8}"
_NUMBER = re.compile(
    rf"(?:(?P<name>(?i:{_NAMES}))\s+(?:{_DECIMAL}|{_ROMAN}\b|[A-Z]\b)|§{{1,2}}\s*{_DECIMAL}|{_DECIMAL}|(?:{_ROMAN}|[A-H])[.):]|"
    rf"{_ROMAN}(?=\s+[A-Z]{{2}})|第{_CHINESE}(?P<kind>[章节節编編部篇条條款])|{_CHINESE}、|[（(](?:{_CHINESE}|[a-z]{{1,5}})[)）])"
    r"[.):\s\u3000–—-]*"
)
_UNSPACED = re.compile(rf"[{CJK}\u3000-\u303f\uff00-\uffef]$")


class TextBlock(NamedTuple):
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
class Version:
    """A version's sections and words. Sections are numbered as in the document."""

    units: tuple[Unit, ...]  # of all headings and paragraphs, tables and references too
    words: Words  # the same as numbers
    blocks: tuple[TextBlock, ...]  # they belong to
    headings: tuple[str, ...]
    levels: tuple[int, ...]
    places: tuple[int, ...]  # where each begins in the text

    @staticmethod
    def of(document: Document, vocabulary: Vocabulary) -> "Version":
        """All headings and paragraphs of a document."""
        readable = document.readable
        blocks: list[TextBlock] = []
        texts: list[tuple[str, Span, int]] = []
        for number, section in enumerate(document.sections):
            level = min(max(section.level, 1), 4)
            if section.heading.strip():
                blocks.append(TextBlock(number, "heading", level))
                texts.append(_heading(readable, section))
            for paragraph in section.paragraphs:
                text = paragraph.of(readable) if paragraph.kind == "table" else ""
                blocks.append(TextBlock(number, paragraph.kind, level, text))
                texts.append((readable, paragraph, 0))
        words, tokens = cut(texts, vocabulary)
        return Version(
            tuple(_units(tokens, blocks)),
            words,
            tuple(blocks),
            headings=tuple(" ".join(section.heading.split()) for section in document.sections),
            levels=tuple(section.level for section in document.sections),
            places=tuple(section.start for section in document.sections),
        )

    @cached_property
    def home(self) -> Ints:
        """The section of each word."""
        return np.array([self.blocks[unit.block].section for unit in self.units], dtype=np.int64)

    @cached_property
    def starts(self) -> list[int]:
        """Where each section begins among the words, and after the last where it ends."""
        starts: list[int] = np.searchsorted(self.home, np.arange(len(self.headings) + 1)).tolist()
        return starts

    @cached_property
    def in_heading(self) -> Flags:
        """Whether each word stands in a heading."""
        return np.array([self.blocks[unit.block].kind == "heading" for unit in self.units], dtype=bool)

    @cached_property
    def titles(self) -> tuple[str, ...]:
        """The headings without their numbers."""
        return tuple(without_number(heading) for heading in self.headings)

    @cached_property
    def worded(self) -> list[int]:
        """The sections that hold any word."""
        return [section for section in range(len(self.headings)) if self.run(section)]

    def run(self, first: int, last: int | None = None) -> range:
        """The words of a section, or of a run of sections."""
        return range(self.starts[first], self.starts[(first if last is None else last) + 1])

    def body_start(self, section: int) -> int:
        """Where the words below its heading begin."""
        start, end = self.starts[section], self.starts[section + 1]
        return start + int(self.in_heading[start:end].sum())

    def body(self, section: int) -> Ints:
        """The numbers of the words below its heading; of a heading without any, those of the sections below it."""
        start, end = self.body_start(section), self.starts[section + 1]
        if start == end:
            after = range(section + 1, len(self.levels))
            beside = next((n for n in after if self.levels[n] <= self.levels[section]), len(self.levels))
            end = self.starts[beside]
        return self.words.ids[start:end]

    def key(self, section: int) -> tuple[str, bytes]:
        """Equal for sections that are the same but for their number."""
        return self.titles[section].casefold(), self.body(section).tobytes()

    def name(self, section: int) -> tuple[str, str]:
        """A section's heading and its first words; each may be empty."""
        first = (self.units[n] for n in self.run(section)[:OPENING_UNITS] if not self.in_heading[n])
        return self.headings[section], "".join(unit.text + unit.space for unit in first).strip()

    def called(self, section: int) -> str:
        """What to call a section: its heading, else its first words."""
        heading, opening = self.name(section)
        return heading or " ".join(opening.split()[:OPENING])


def _heading(readable: str, section: Section) -> tuple[str, Span, int]:
    """A text that holds the heading, where in it, and where that text begins in the document."""
    heading, limit = section.heading, section.paragraphs[0].start if section.paragraphs else section.end
    start = readable.find(heading, section.start, limit)
    if start >= 0:
        return readable, Span(start, start + len(heading)), 0
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


def without_number(heading: str) -> str:
    """A heading without the number it begins with; of one that is a number only, what kind of part it numbers.

    >>> [without_number(x) for x in ("10. Audit", "Article 5", "Chapter 3: Methods", "IV. THE LAW", "Part-time work")]
    ['Audit', 'Article', 'Chapter Methods', 'THE LAW', 'Part-time work']
    >>> [without_number(x) for x in ("第三章 合同", "§ 12a Frist", "2.3 Data", "24 hours", "3D models", "I agree")]
    ['章 合同', 'Frist', 'Data', 'hours', '3D models', 'I agree']
    """
    text = " ".join(heading[:LONGEST_HEADING].split())
    match = _NUMBER.match(text)
    if match is None:
        return text
    return f"{match['name'] or match['kind'] or ''} {text[match.end() :]}".strip()
