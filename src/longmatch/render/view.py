"""A match arranged for the templates: everything a page shows, computed here, so that templates only place it."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

from longmatch.documents.containers import shows_pages
from longmatch.documents.document import Document, Span
from longmatch.matching.match import Alignment, Grid, Level, Match, heading_at
from longmatch.render.matrix import Matrix
from longmatch.render.wording import how_exactly
from longmatch.reuse.reuse import ONE_WORDING

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
    patterns = []
    for word in sorted(set(words), key=len, reverse=True):
        body = r"[\W_]+".join(re.escape(part) for part in word.split())
        unspaced = re.search(r"[\u3040-\u30ff\u3400-\u9fff]", word)  # Chinese needs no space around
        if body:
            patterns.append(body if unspaced else rf"(?<!\w){body}(?!\w)")
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
    def parts(self) -> list[dict[str, Any]]:
        """The sections in order, their paragraphs cut into runs; the first of each page has its number."""
        document = self.document
        cuts = cut(document.readable, document.paragraphs, [*(h.span for h in self.highlights), *self.verbatim])
        scored = {p.start for p in document.running}
        parts: list[dict[str, Any]] = []
        last_page = 0
        for section in document.sections:
            blocks = []
            for p in section.paragraphs:
                begins = p.page is not None and p.page > last_page
                last_page = p.page if p.page is not None and begins else last_page
                block = {"start": p.start, "kind": p.kind, "scored": p.start in scored, "runs": next(cuts)}
                blocks.append(block | {"page": p.page if begins else None})
            level = min(max(section.level, 1), 4)
            parts.append({"start": section.start, "heading": section.heading, "level": level, "blocks": blocks})
        return parts

    def aligned(self, run: Run) -> tuple[int, ...]:
        """The highlights that a run belongs to."""
        return tuple(number for number in run.passages if number < len(self.highlights))

    def look(self, run: Run) -> str:
        """The style classes of a run: kind, strength and tier of its strongest passage (numbers rise with weakness)."""
        aligned = self.aligned(run)
        best = self.highlights[aligned[0]]
        also = any(self.highlights[n].also or self.highlights[n].kind != best.kind for n in aligned)
        verbatim = " verbatim" if len(aligned) < len(run.passages) else ""  # it stands in the other document too
        return f"{best.kind}{' both' if also else ''}{verbatim} s{best.strength} t{best.tier}"


class MatchView:
    """What the templates see. The matrix shown is that of the sections, unless another level's grid is given."""

    def __init__(self, match: Match, level: Level = "sections", grid: Grid | None = None) -> None:
        self.match = match
        self.within = match.a is match.b
        self.matrix = matrix_view(match, level, grid)
        self.alignments = match.evidence
        self.terms = match.terms[:TERMS]
        self.share_not_shown = max(0.0, 1.0 - sum(term.share for term in self.terms))
        versions = match.relation in ONE_WORDING
        self.revision = match.revision if versions else None
        # of these and of copies nearly all stands in both: nothing to point at
        self.reused = () if versions or match.relation == "copy" else match.reuse.passages
        looks = _looks(self.alignments)
        self.a, a_numbers = _pane("a", match.a, self.alignments, looks, [passage.a for passage in self.reused])
        self.b, b_numbers = _pane("b", match.b, self.alignments, looks, [passage.b for passage in self.reused])
        self._pairs = list(zip(a_numbers, b_numbers, strict=True))

    def reuse_cards(self, count: int = 10) -> list[dict[str, Any]]:
        """The longest passages that stand in both, in pieces, each with whether it is the same in the other."""
        a, b = self.match.a, self.match.b
        cards = []
        for passage in self.reused[:count]:
            how = how_exactly(passage.unchanged, self.match.reuse.unit)
            card = {
                "passage": passage,
                "how": "in many documents of the collection" if passage.common else how,
                "sections": (heading_at(a, passage.a.start), heading_at(b, passage.b.start)),
                "a": mark_spans(a.readable, passage.a, passage.same_a, QUOTED),
                "b": mark_spans(b.readable, passage.b, passage.same_b, QUOTED),
            }
            cards.append(card)
        return cards

    def cards(self, count: int = 10) -> list[dict[str, Any]]:
        """The pairs that say most, in pieces, each with whether it is a shared word."""
        a, b = self.match.a.readable, self.match.b.readable
        numbers = {id(pair): number for number, pair in enumerate(self.alignments)}
        return [
            {
                "number": numbers[id(pair)],
                "alignment": pair,
                "a": mark_words(a[pair.a.start : pair.a.end], pair.words),
                "b": mark_words(b[pair.b.start : pair.b.end], pair.words),
            }
            for pair in self.match.best(count)
        ]

    def data(self) -> dict[str, Any]:
        """What the page's script needs: passages and links by number, and the matrix where the script draws it."""
        links = []
        for (a, b), x in zip(self._pairs, self.alignments, strict=True):
            kind = 2 if x.paraphrase else int(x.kind == "keyword")  # 0 for meaning, 1 for words
            links.append([a, b, round(x.score, 3), round(x.contribution, 6), kind, list(x.words)])
        return {
            "a": [[h.span.start, h.span.end] for h in self.a.highlights],
            "b": [[h.span.start, h.span.end] for h in self.b.highlights],
            "links": links,
            "matrix": matrix_data(self.matrix),
        }


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


def _looks(alignments: Sequence[Alignment]) -> list[tuple[int, int]]:
    """The strength and the tier of each alignment, strongest first.

    Strengths are 1 to STRENGTHS, from the contribution's square root: weak pairs stay visible beside one strong one.
    Tiers are 1 for the pairs that carry the first half of the score, 2 up to four fifths, 3 for the rest.
    """
    top = max((x.contribution for x in alignments), default=0.0) or 1.0
    total = sum(x.contribution for x in alignments) or 1.0
    before, looks = 0.0, []
    for x in alignments:
        strength = round((max(0.0, x.contribution) / top) ** 0.5 * STRENGTHS)
        looks.append((min(STRENGTHS, max(1, strength)), 1 + sum(before >= tier for tier in TIERS)))
        before += x.contribution / total
    return looks


def _pane(
    side: Literal["a", "b"],
    document: Document,
    alignments: Sequence[Alignment],
    looks: Sequence[tuple[int, int]],
    verbatim: Sequence[Span],
) -> tuple[Pane, list[int]]:
    """One side's distinct passages, strongest first, and the passage number of each alignment."""
    highlights: dict[Span, Highlight] = {}
    places: list[Span] = []
    for x, (strength, tier) in zip(alignments, looks, strict=True):
        passage = x.a if side == "a" else x.b
        span = Span(passage.start, passage.end)
        places.append(span)
        known = highlights.setdefault(span, Highlight(span, x.kind, False, strength, tier))
        if known.kind != x.kind:
            highlights[span] = replace(known, also=True)
    numbers = {span: number for number, span in enumerate(highlights)}
    return Pane(side, document, list(highlights.values()), verbatim=verbatim), [numbers[span] for span in places]
