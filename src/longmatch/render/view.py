"""A match arranged for the templates: everything a page shows, computed here, so that templates only place it."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

from longmatch.documents.containers import shows_pages
from longmatch.documents.document import Document, Paragraph, Span
from longmatch.matching.match import Alignment, Grid, Level, Match, Term, heading_at
from longmatch.render.matrix import Matrix
from longmatch.render.wording import how_exactly
from longmatch.reuse.reuse import ONE_WORDING, ReusedPassage
from longmatch.reuse.revision import Revision

QUOTED = 900  # characters of a passage that stands in both
STRENGTHS = 5  # shades of a highlight
TERMS = 18  # shared words and phrases shown
TIERS = (0.5, 0.8)  # the strongest passages carry half of the score, most of them four fifths


@dataclass(frozen=True, slots=True)
class Run:
    """A stretch of text and the passages (by number) it belongs to; none where nothing is aligned."""

    text: str
    passages: tuple[int, ...] = ()


def mark_words(text: str, words: Iterable[str]) -> list[tuple[str, bool]]:
    """Cut a text into pieces, each with whether it is one of the words; case and spacing do not matter.

    >>> mark_words("The Clay was wet.", ["clay"])
    [('The ', False), ('Clay', True), (' was wet.', False)]
    """
    text = " ".join(text.split())
    patterns = [_pattern(word) for word in sorted(set(words), key=len, reverse=True) if word.strip()]
    if not patterns:
        return [(text, False)] if text else []
    pieces = re.split(f"({'|'.join(patterns)})", text, flags=re.IGNORECASE)
    return [(piece, at % 2 == 1) for at, piece in enumerate(pieces) if piece]


def mark_spans(text: str, whole: Span, marked: Iterable[Span], most: int) -> list[tuple[str, bool]]:
    """Cut part of a text into pieces, each with whether it is one of the spans in it; after `most` characters it ends.

    >>> mark_spans("one two three four", Span(0, 13), [Span(0, 3), Span(8, 13)], 100)
    [('one', True), (' two ', False), ('three', True)]
    """
    end = min(whole.end, whole.start + most)
    pieces, at = [], whole.start
    for span in marked:
        for place, is_marked in ((span.start, False), (span.end, True)):
            if at < min(place, end):
                pieces.append((text[at : min(place, end)], is_marked))
                at = min(place, end)
    return [*pieces, (" …", True)] if end < whole.end else pieces


def _pattern(word: str) -> str:
    """A word or phrase as a whole; Chinese and Japanese characters need no space around them."""
    body = r"[\W_]+".join(re.escape(part) for part in word.split())
    spaced = not re.search(r"[\u3040-\u30ff\u3400-\u9fff]", word)
    return rf"(?<!\w){body}(?!\w)" if spaced else body


def cut(text: str, blocks: Sequence[Span], passages: Sequence[Span]) -> Iterator[list[Run]]:
    """Cut each block (in order, apart from one another) where passages begin and end; passages may overlap.

    >>> [[(run.text, run.passages) for run in runs] for runs in cut("abcdef", [Span(0, 6)], [Span(1, 4), Span(3, 5)])]
    [[('a', ()), ('bc', (0,)), ('d', (0, 1)), ('e', (1,)), ('f', ())]]
    """
    filled = (number for number, span in enumerate(passages) if span.end > span.start)
    waiting = sorted(filled, key=lambda number: passages[number].start, reverse=True)
    active: set[int] = set()
    for block in blocks:
        while waiting and passages[waiting[-1]].start < block.end:
            active.add(waiting.pop())
        active = {number for number in active if passages[number].end > block.start}
        yield list(_runs(text, block, [(number, passages[number]) for number in active]))


def _runs(text: str, block: Span, inside: list[tuple[int, Span]]) -> Iterator[Run]:
    """One block's runs: a sweep over the places where a passage begins or ends."""
    begins: dict[int, list[int]] = {}
    ends: dict[int, list[int]] = {}
    for number, span in inside:
        begins.setdefault(max(span.start, block.start), []).append(number)
        ends.setdefault(min(span.end, block.end), []).append(number)
    open_now: set[int] = set()
    at = block.start
    for place in sorted({*begins, *ends, block.end}):
        if place > at:
            yield Run(text[at:place], tuple(sorted(open_now)))
            at = place
        open_now.difference_update(ends.get(place, ()))
        open_now.update(begins.get(place, ()))


@dataclass(frozen=True)
class Highlight:
    """A passage of one side that has partners; its look is that of its strongest alignment."""

    span: Span
    kind: Literal["keyword", "meaning"]
    also: bool  # whether it has partners of the other kind too
    strength: int  # 1 to STRENGTHS
    tier: int  # 1: among the strongest, 2: among most, 3: the rest


@dataclass(frozen=True)
class Block:
    """A paragraph, cut into runs."""

    start: int
    kind: str
    scored: bool
    runs: list[Run]
    page: int | None = None  # where one begins


@dataclass(frozen=True)
class ReuseCard:
    """A passage that stands in both documents."""

    passage: ReusedPassage
    how: str
    sections: tuple[str, str]
    a: list[tuple[str, bool]]  # text, and whether it is the same in the other
    b: list[tuple[str, bool]]


@dataclass(frozen=True)
class Part:
    """A section."""

    start: int
    heading: str
    level: int
    blocks: list[Block]


@dataclass(frozen=True)
class Pane:
    """One document with its highlights."""

    side: Literal["a", "b"]
    document: Document
    highlights: list[Highlight]
    verbatim: Sequence[Span] = field(default=(), kw_only=True)  # passages that stand in the other document too

    @property
    def pages_of(self) -> str:
        """The id of the document if its file is one whose pages can be shown; else empty."""
        return self.document.id if shows_pages(self.document.id, self.document.source) else ""

    @cached_property
    def parts(self) -> list[Part]:
        """The sections in order."""
        document = self.document
        cuts = cut(document.readable, document.paragraphs, [*(h.span for h in self.highlights), *self.verbatim])
        scored = {p.start for p in document.running}
        page_starts = _page_starts(document.paragraphs)
        return [
            Part(
                section.start,
                section.heading,
                min(max(section.level, 1), 4),
                [
                    Block(p.start, p.kind, p.start in scored, next(cuts), page_starts.get(p.start))
                    for p in section.paragraphs
                ],
            )
            for section in document.sections
        ]

    def aligned(self, run: Run) -> tuple[int, ...]:
        """The highlights that a run belongs to."""
        return tuple(number for number in run.passages if number < len(self.highlights))

    def is_verbatim(self, run: Run) -> bool:
        """Whether a run stands in the other document too."""
        return len(self.aligned(run)) < len(run.passages)

    def look(self, run: Run) -> str:
        """The style classes of a run: kind, strength and tier of its strongest passage (numbers rise with weakness)."""
        aligned = self.aligned(run)
        best = self.highlights[aligned[0]]
        also = any(self.highlights[n].also or self.highlights[n].kind != best.kind for n in aligned)
        verbatim = " verbatim" if self.is_verbatim(run) else ""
        return f"{best.kind}{' both' if also else ''}{verbatim} s{best.strength} t{best.tier}"


@dataclass(frozen=True)
class Card:
    """One of the strongest pairs of passages."""

    number: int  # of the alignment
    alignment: Alignment
    a: list[tuple[str, bool]]  # text, and whether it is a shared word
    b: list[tuple[str, bool]]


class MatchView:
    """What the templates see. The matrix shown is that of the sections, unless another level's grid is given."""

    def __init__(self, match: Match, level: Level = "sections", grid: Grid | None = None) -> None:
        self.match = match
        self.within = match.a is match.b
        self.matrix = matrix_view(match, level, grid)
        self.alignments = match.evidence
        tiers, strengths = _tiers(self.alignments), _strengths(self.alignments)
        whole = match.relation in ("copy", "version", "template")  # nearly all stands in both: nothing to point at
        self.reused = () if whole else match.reuse.passages
        self.a, a_numbers = _pane("a", match.a, self.alignments, tiers, strengths)
        self.b, b_numbers = _pane("b", match.b, self.alignments, tiers, strengths)
        self.a = replace(self.a, verbatim=[passage.a for passage in self.reused])
        self.b = replace(self.b, verbatim=[passage.b for passage in self.reused])
        self._pairs = list(zip(a_numbers, b_numbers, strict=True))

    @property
    def revision(self) -> Revision | None:
        """What changed between the two, where most of their words are the same."""
        return self.match.revision if self.match.relation in ONE_WORDING else None

    def reuse_cards(self, count: int = 10) -> list[ReuseCard]:
        """The longest passages that stand in both."""
        return [
            ReuseCard(
                passage,
                "in many documents of the collection"
                if passage.common
                else how_exactly(passage.unchanged, self.match.reuse.unit),
                (heading_at(self.match.a, passage.a.start), heading_at(self.match.b, passage.b.start)),
                mark_spans(self.match.a.readable, passage.a, passage.same_a, QUOTED),
                mark_spans(self.match.b.readable, passage.b, passage.same_b, QUOTED),
            )
            for passage in self.reused[:count]
        ]

    @property
    def terms(self) -> tuple[Term, ...]:
        """The shared words and phrases that are shown."""
        return self.match.terms[:TERMS]

    @property
    def share_not_shown(self) -> float:
        """The share of the shared words and phrases that are not shown."""
        return max(0.0, 1.0 - sum(term.share for term in self.terms))

    def cards(self, count: int = 10) -> list[Card]:
        """The pairs that say most."""
        a, b = self.match.a.readable, self.match.b.readable
        numbers = {id(pair): number for number, pair in enumerate(self.alignments)}
        return [
            Card(
                numbers[id(pair)],
                pair,
                mark_words(a[pair.a.start : pair.a.end], pair.words),
                mark_words(b[pair.b.start : pair.b.end], pair.words),
            )
            for pair in self.match.best(count)
        ]

    def data(self) -> dict[str, Any]:
        """What the page's script needs: passages and links by number, and the matrix where the script draws it."""
        links = [
            [a, b, round(x.score, 3), round(x.contribution, 6), _kind(x), list(x.words)]
            for (a, b), x in zip(self._pairs, self.alignments, strict=True)
        ]
        return {
            "a": [[h.span.start, h.span.end] for h in self.a.highlights],
            "b": [[h.span.start, h.span.end] for h in self.b.highlights],
            "links": links,
            "matrix": matrix_data(self.matrix),
        }


def _kind(pair: Alignment) -> int:
    """0 for meaning, 1 for words, 2 for the same meaning in other words."""
    return 2 if pair.paraphrase else int(pair.kind == "keyword")


def matrix_view(match: Match, level: Level, grid: Grid | None = None) -> Matrix:
    """The matrix of a level, ready for the templates; its grid can be handed over where it is known already."""
    return Matrix(grid or match.at(level), match.a, match.b, match.a is match.b, level)


def matrix_data(matrix: Matrix) -> dict[str, Any]:
    """What the script needs of a matrix: where its rows and columns lie, and the scores where the script draws them."""
    return {
        "level": matrix.level,
        "rows": [[s.start, s.end] for s in matrix.grid.row_spans],
        "columns": [[s.start, s.end] for s in matrix.grid.column_spans],
        "openings": matrix.openings,
        "range": [matrix.bottom, matrix.top],
        "values": matrix.packed if matrix.drawn else None,
    }


def _page_starts(paragraphs: Sequence[Paragraph]) -> dict[int, int]:
    """The first paragraph of each page, by its first character."""
    starts: dict[int, int] = {}
    last = 0
    for paragraph in paragraphs:
        if paragraph.page is not None and paragraph.page > last:
            starts[paragraph.start] = last = paragraph.page
    return starts


def _strengths(alignments: Sequence[Alignment]) -> list[int]:
    """1 to STRENGTHS, from the contribution's square root: weak pairs stay visible beside one strong one."""
    top = max((x.contribution for x in alignments), default=0.0) or 1.0
    levels = ((max(0.0, x.contribution) / top) ** 0.5 * STRENGTHS for x in alignments)
    return [min(STRENGTHS, max(1, round(level))) for level in levels]


def _tiers(alignments: Sequence[Alignment]) -> list[int]:
    """1 for the pairs that carry the first half of the score, 2 up to four fifths, 3 for the rest."""
    total = sum(x.contribution for x in alignments) or 1.0
    before, tiers = 0.0, []
    for x in alignments:
        tiers.append(1 + sum(before >= tier for tier in TIERS))
        before += x.contribution / total
    return tiers


def _pane(
    side: Literal["a", "b"],
    document: Document,
    alignments: Sequence[Alignment],
    tiers: Sequence[int],
    strengths: Sequence[int],
) -> tuple[Pane, list[int]]:
    """One side's distinct passages, strongest first, and the passage number of each alignment."""
    numbers: dict[tuple[int, int], int] = {}
    of_alignment: list[int] = []
    kinds: list[set[str]] = []
    first: list[int] = []
    for at, x in enumerate(alignments):
        passage = x.a if side == "a" else x.b
        number = numbers.setdefault((passage.start, passage.end), len(numbers))
        if number == len(first):
            first.append(at)
            kinds.append(set())
        kinds[number].add(x.kind)
        of_alignment.append(number)
    highlights = [
        Highlight(Span(*span), alignments[at].kind, len(kinds[number]) > 1, strengths[at], tiers[at])
        for (span, number), at in zip(numbers.items(), first, strict=True)
    ]
    return Pane(side, document, highlights), of_alignment
