"""How much of each of two documents stands in the other, word for word or nearly, and what that makes the two.

Whether two documents are copies: every visible character of one is in the other, in the same order.

White space, ligatures and the hyphenation at line ends do not count. Text, tables and footnotes are compared each by
themselves, as formats put notes and tables in other places. Plain text can give neither tables nor footnotes: those of
the other file are not compared.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import PurePath
from typing import Literal

import numpy as np

from longmatch.documents.document import Document, Span
from longmatch.documents.paragraph_kinds import table_cells
from longmatch.reuse.align import runs_in_step
from longmatch.reuse.passages import Shared, shared_passages
from longmatch.reuse.words import (
    BROKEN,
    PER_WORD,
    Flags,
    Ints,
    Vocabulary,
    Words,
    of_one_template,
    running_words,
    visible,
)

Part = Literal["tables", "footnotes"]
APART: dict[str, Part] = {"table": "tables", "footnote": "footnotes"}  # by kind of paragraph
OPENING = 4096  # characters that are looked at first
_WITHOUT_PARTS = frozenset({"", ".txt"})  # endings of files that can give no table and no footnote
_WITH_TITLE = frozenset(
    {".docx", ".odt", ".rtf", ".tex", ".xml", ".nxml", ".eml"}
)  # whose title is no part of their text
Relation = Literal["copy", "version", "template", "reuse", "related", "unrelated"]
IsCommon = Callable[[str], bool]
"""Whether a passage stands in many documents of a collection, which makes it boilerplate."""

VERSION = 0.5  # share of all words that stand in both
CERTAIN = 0.9  # share of all words from which short texts without numbers are versions too
FILLED_IN = 0.97  # largest share of unchanged words in the passages of filled-in forms: their words change in place
ONE_WORDING: tuple[Relation, ...] = ("version", "template")  # most words stand in both, and others changed
REUSE_WORDS = 50  # that stand in both, from which one document reuses the other's text
REUSE_SHARE = 0.1  # of the shorter document, from which fewer words are enough


@dataclass(frozen=True)
class ReusedPassage:
    """A passage that stands in both documents, word for word or with small changes."""

    a: Span
    b: Span
    words: int  # of the longer side
    same: int  # words that are the same in both, with all visible characters around them
    same_a: tuple[Span, ...]  # where they stand
    same_b: tuple[Span, ...]
    common: bool = False  # stands in many documents of the collection

    @property
    def unchanged(self) -> float:
        """The share of the words that are the same."""
        return self.same / self.words


@dataclass(frozen=True)
class Reuse:
    """The passages that stand in both documents, longest first, and how many words of each document they hold.

    Words are those of the running text. Passages that stand in many documents of the collection are listed, but count
    only for copies and versions.
    """

    passages: tuple[ReusedPassage, ...] = ()
    words_a: int = 0
    words_b: int = 0
    reused_a: int = 0  # words in passages that are not common
    reused_b: int = 0
    common_a: int = 0  # words in common passages alone
    common_b: int = 0
    alike_a: int = 0  # words in passages of either kind that are the same in the other, case and signs aside
    alike_b: int = 0
    by_character: bool = False  # whether the words counted are characters, as in Chinese
    copied: bool = False  # whether all visible characters are the same
    not_compared: tuple[Part, ...] = ()  # of copies, what only one of the files can give
    one_template: bool | None = False  # whether their numbers differ as those of two filled-in forms do; None: unknown

    @property
    def share_a(self) -> float:
        """The share of a that stands in b."""
        return self.reused_a / self.words_a if self.words_a else 0.0

    @property
    def share_b(self) -> float:
        """The share of b that stands in a."""
        return self.reused_b / self.words_b if self.words_b else 0.0

    @property
    def unchanged(self) -> float:
        """The share of the words in reused passages that are the same."""
        counted = [passage for passage in self.passages if not passage.common]
        total = sum(passage.words for passage in counted)
        return sum(passage.same for passage in counted) / total if total else 0.0

    @property
    def unit(self) -> str:
        """What is counted, for sentences."""
        return "character" if self.by_character else "word"

    @property
    def alike_share(self) -> float:
        """The share of the words of both documents that stand in the other, case and signs aside."""
        return (self.alike_a + self.alike_b) / max(1, self.words_a + self.words_b)

    @property
    def may_be_template(self) -> bool:
        """Whether two versions may as well be two documents of one template, as their numbers do not tell."""
        unsure = self.relation == "version" and self.one_template is None
        return unsure and self.alike_share < CERTAIN and self.unchanged < FILLED_IN

    @property
    def relation(self) -> Relation | None:
        """What shared text makes the two: copies, versions, documents of one template, reuse; else None."""
        if self.copied:
            return "copy"
        if self.alike_share >= VERSION:
            return "template" if self.one_template else "version"
        reused = min(self.reused_a, self.reused_b)
        short = REUSE_WORDS * (PER_WORD if self.by_character else 1)
        least = min(short, REUSE_SHARE * min(self.words_a, self.words_b))
        return "reuse" if reused and reused >= least else None


def find_reuse(a: Document, b: Document, is_common: IsCommon | None = None) -> Reuse:
    """The passages that two documents share; `is_common` tells those that many documents of a collection have."""
    vocabulary = Vocabulary()
    return reuse_of(a, running_words(a, vocabulary), b, running_words(b, vocabulary), is_common)


def reuse_of(a: Document, own: Words, b: Document, other: Words, is_common: IsCommon | None = None) -> Reuse:
    """The same, from the words of both, numbered alike."""
    passages: list[ReusedPassage] = []
    held, reused, alike = ([np.zeros(len(words), dtype=bool) for words in (own, other)] for _ in range(3))
    for shared in shared_passages(own, other):
        i, j, same = _agreeing(shared, own, other)
        parts = slice(int(i[0]), int(i[-1]) + 1), slice(int(j[0]), int(j[-1]) + 1)
        first, second = (
            Span(int(words.starts[part.start]), int(words.ends[part.stop - 1]))
            for part, words in zip(parts, (own, other), strict=True)
        )
        common = is_common is not None and is_common(first.of(a.readable))
        for side, (part, places) in enumerate(zip(parts, (i, j), strict=True)):
            held[side][part] = alike[side][places] = True
            if not common:
                reused[side][part] = True
        runs = runs_in_step(i[same], j[same], 1)
        same_a = tuple(Span(int(own.starts[run.i]), int(own.ends[run.i + run.length - 1])) for run in runs)
        same_b = tuple(Span(int(other.starts[run.j]), int(other.ends[run.j + run.length - 1])) for run in runs)
        longer = max(part.stop - part.start for part in parts)
        passages.append(ReusedPassage(first, second, longer, int(same.sum()), same_a, same_b, common))
    (held_a, held_b), (reused_a, reused_b), (alike_a, alike_b) = (
        [int(words.sum()) for words in sides] for sides in (held, reused, alike)
    )
    if np.array_equal(own.ids, other.ids):  # too few words, it may be, for any passage
        alike_a = alike_b = len(own)
    mostly_alike = alike_a + alike_b >= VERSION * (len(own) + len(other))
    missing = not_compared(a, b) if mostly_alike else None
    by_character = own.characters and other.characters
    shorter = min(len(own), len(other)) // (PER_WORD if by_character else 1)
    return Reuse(
        passages=tuple(sorted(passages, key=lambda passage: (-passage.same, passage.a.start, passage.b.start))),
        words_a=len(own),
        words_b=len(other),
        reused_a=reused_a,
        reused_b=reused_b,
        common_a=held_a - reused_a,
        common_b=held_b - reused_b,
        alike_a=alike_a,
        alike_b=alike_b,
        by_character=by_character,
        copied=missing is not None,
        not_compared=missing or (),
        one_template=of_one_template(own.numbers, other.numbers, shorter),
    )


def _agreeing(passage: Shared, own: Words, other: Words) -> tuple[Ints, Ints, Flags]:
    """The places in both texts of the words that are the same but for case and signs, and which agree in these too.

    A sign before the first word or behind the last one may belong to the text around the passage.
    """
    i, j, lengths = np.array(passage.blocks).T
    within = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    i, j = np.repeat(i, lengths) + within, np.repeat(j, lengths) + within
    same = own.agree(i, other, j)
    kept = slice(int(not same[0]), len(i) - int(not same[-1])) if same[1:-1].any() else slice(None)
    return i[kept], j[kept], same[kept]


def not_compared(a: Document, b: Document) -> tuple[Part, ...] | None:
    """What of one copy the format of the other cannot give; None where two documents are no copies."""
    if stated_title(a, b) != stated_title(b, a) or not _agree(_text(a), _text(b)) or not (a.running and b.running):
        return None
    left_out: list[Part] = []
    for part in APART.values():
        own, other = ([p.of(each.readable) for p in each.paragraphs if APART.get(p.kind) == part] for each in (a, b))
        if bool(own) != bool(other) and PurePath((b if own else a).source).suffix.lower() in _WITHOUT_PARTS:
            left_out.append(part)
        elif (_cells(own) != _cells(other)) if part == "tables" else not _agree("\n\n".join(own), "\n\n".join(other)):
            return None
    return tuple(left_out)


def stated_title(document: Document, other: Document) -> str:
    """The title, where the files of both state one beside their text."""
    suffixes = {PurePath(each.source).suffix.lower() for each in (document, other)}
    return visible(document.title) if suffixes <= _WITH_TITLE and document.title != document.id else ""


def _text(document: Document) -> str:
    """Headings and paragraphs."""
    lines: list[str] = []
    for section in document.sections:
        lines.append(section.heading)
        lines += [p.of(document.readable) for p in section.paragraphs if p.kind not in APART]
    return "\n\n".join(lines)


def _cells(tables: list[str]) -> list[list[list[str]]]:
    return [[[visible(cell) for cell in row] for row in table_cells(table)] for table in tables]


def _agree(a: str, b: str) -> bool:
    """Whether two texts have the same visible characters; a hyphen at a line end may be part of its word or not."""
    # most versions differ soon, and need not be read whole; the last characters of a beginning may go with what follows
    own, other = (visible(text[:OPENING]).replace("-", "") for text in (a, b))
    certain = max(0, min(len(own), len(other)) - 8)
    if own[:certain] != other[:certain]:
        return False
    if visible(a) == visible(b):
        return True
    if not BROKEN.search(a) and not BROKEN.search(b):
        return False
    vocabulary = Vocabulary()
    a_words, b_words = (Words.of(text, [Span(0, len(text))], vocabulary) for text in (a, b))
    return len(a_words) == len(b_words) and bool(a_words.agree(slice(None), b_words, slice(None)).all())
