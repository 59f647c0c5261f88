"""Plain text: the document's text is the file itself, and every block points into it."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from statistics import median

from longmatch.documents import headings
from longmatch.documents.decoding import read_text
from longmatch.documents.document import Span
from longmatch.documents.draft import Block, Draft
from longmatch.documents.kinds import is_caption
from longmatch.documents.lines import lines_of, trimmed

_SENTENCE_END = re.compile(r"[.!?。！？…][\"'”’»)\]」』]*$")
_ITEM = re.compile(r"\s*(?:([-*•·–])|\(?(?:\d{1,3}|[a-z])([.)]))\s+\S")
_INDENT = re.compile(r" {2,}|\t|\u3000")
_LONG_LINE = 150  # characters: a text whose lines are mostly longer was not wrapped by hand
_PROSE = 80  # characters a paragraph under a plain heading has at least

Run = list[Span]  # lines without a blank one between them


def read_plain(path: Path) -> Draft:
    """Read a text file."""
    return draft_text(read_text(path))


def draft_text(text: str) -> Draft:
    r"""Headings and paragraphs of a plain text: paragraphs at blank lines, hard-wrapped lines kept together.

    >>> draft = draft_text("On Rain\n\n1. Why it falls\n\nDrops grow heavy\nand fall.\n")
    >>> draft.title, [(b.kind, b.of(draft.text)) for b in draft.blocks[1:]]
    ('On Rain', [('heading', '1. Why it falls'), ('text', 'Drops grow heavy\nand fall.')])
    """
    runs = _runs(text)
    draft = Draft(text=text)
    line_a_paragraph = _is_line_a_paragraph(text, runs)
    pieces = [piece for run in runs for piece in _pieces(text, run, line_a_paragraph)]
    if not pieces:
        return draft
    levels = _heading_levels(text, pieces)
    for piece, level in zip(pieces, levels, strict=True):
        if level:
            draft.blocks.append(Block(piece[0].start, piece[0].end, "heading", level))
            continue
        span = Span(piece[0].start, piece[-1].end)
        draft.blocks.append(Block(span.start, span.end, "caption" if is_caption(span.of(text)) else "text"))
    first = draft.blocks[0].of(text) if levels[0] else pieces[0][0].of(text)
    draft.title = _shortened(first)
    return draft


def _shortened(line: str) -> str:
    """A line as a title: its first words, where it is long."""
    if len(line) <= 150:
        return " ".join(line.split())
    return " ".join(line[:100].split(" ")[:-1] or [line[:100]]) + "…"


def _runs(text: str) -> list[Run]:
    runs: list[Run] = [[]]
    for line in lines_of(text):
        kept = trimmed(text, line.start, line.end)
        if kept.start < kept.end:
            runs[-1].append(kept)
        elif runs[-1]:
            runs.append([])
    return [run for run in runs if run]


def _is_line_a_paragraph(text: str, runs: Sequence[Run]) -> bool:
    """Whether each line is a paragraph: long lines, or no blank line anywhere and lines that end as sentences do."""
    lines = [line for run in runs for line in run]
    if lines and median(line.end - line.start for line in lines) > _LONG_LINE:
        return True
    if len(runs) > 1:
        return False
    ended = sum(bool(_SENTENCE_END.search(line.of(text)[-5:])) for line in lines[:-1])
    return 2 * ended > len(lines) - 1


def _pieces(text: str, run: Run, line_a_paragraph: bool) -> Iterator[Run]:
    """Part a run of lines into paragraphs: at underlined headings, list items and indented first lines."""
    marks = [_ITEM.match(line.of(text)) for line in run]
    kinds = [mark[1] or mark[2] if mark else None for mark in marks]
    items = {kind for kind, count in Counter(kinds).items() if kind and count > 1}
    piece: Run = []
    for number, line in enumerate(run):
        if headings.underline_level(line.of(text)):
            if len(piece) == 1 and len(piece[0].of(text)) <= headings.LONGEST:
                yield [piece[0], line]  # a heading and its underline
            elif piece:
                yield piece
            piece = []
            continue
        if piece and (
            line_a_paragraph
            or kinds[number] in items
            or (not items and _is_indented(text, run, number))
            or (number == 1 and _is_run_in_heading(text, run))
            or (number + 1 < len(run) and headings.underline_level(run[number + 1].of(text)))
        ):
            yield piece
            piece = []
        piece.append(line)
    if piece:
        yield piece


def _is_indented(text: str, run: Run, number: int) -> bool:
    """Whether a line begins a paragraph by its indent, the line before having none (a full-width space always does)."""
    here, before = (
        _INDENT.search(text[max(0, line.start - 8) : line.start].rpartition("\n")[2])
        for line in (run[number], run[number - 1])
    )
    return here is not None and (before is None or here[0] == "\u3000")


def _is_run_in_heading(text: str, run: Run) -> bool:
    """Whether a run's first line is a heading with its paragraph directly below it."""
    first, second = run[0].of(text), run[1].of(text)
    shown = headings.numbered_level(first) or headings.is_capitals(first)
    return bool(shown) and len(first) <= headings.LONGEST_PLAIN and len(second) > len(first) and not second[0].islower()


def _heading_levels(text: str, pieces: Sequence[Run]) -> list[int]:
    """A level for each heading, 0 for each paragraph."""
    alone = [piece[0].of(text) if len(piece) == 1 else "" for piece in pieces]
    shown = [_shown_level(text, piece) for piece in pieces]
    levels = list(shown)
    numbers = [headings.item_number(line) for line in alone]
    for here, after in pairwise(range(len(pieces))):  # numbered lines that follow each other directly are a list
        number = numbers[here]
        if number is not None and numbers[after] == number + 1 and shown[after] == shown[here]:
            levels[here] = levels[after] = 0
    plain_level = 2 if any(levels) else 1
    for here, after in pairwise(range(len(pieces))):
        if not levels[here] and not levels[after] and headings.is_plain_heading(alone[here]):
            following = Span(pieces[after][0].start, pieces[after][-1].end).of(text)
            prose = len(following) >= _PROSE and _SENTENCE_END.search(following[-5:])
            if prose or headings.is_known(alone[here]):
                levels[here] = plain_level
    if len(pieces) > 1 and not levels[0] and alone[0] and headings.is_title(alone[0]):
        levels[0] = 1
    for last in reversed(range(len(pieces))):  # a heading has something under it
        if not levels[last]:
            break
        levels[last] = 0
    return levels


def _shown_level(text: str, piece: Run) -> int:
    first = piece[0].of(text)
    if len(piece) == 2 and (level := headings.underline_level(piece[1].of(text))):
        return level
    if len(piece) > 1:
        return 0
    return headings.numbered_level(first) or int(headings.is_capitals(first))
