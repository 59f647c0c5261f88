"""CoLDE's Aug(x): a document cut into a few parts, at its headings where it has enough of them."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from longmatch.units.chunking import piece_ends
from longmatch.units.pieces import Pieces, pieces_from
from longmatch.units.tokens import Ints, Tokens


@dataclass(frozen=True)
class Parts:
    """The chunks of a document's parts: which part each chunk is of, and its place in it."""

    chunks: Pieces
    part: Ints  # (chunks,)
    place: Ints  # (chunks,) 0 for the first chunk of a part


@dataclass(frozen=True)
class Ranges:
    """The same as token ranges alone: chunk i is the tokens first[i]:last[i]."""

    first: Ints  # (chunks,)
    last: Ints  # (chunks,)
    part: Ints  # (chunks,)
    place: Ints  # (chunks,) 0 for the first chunk of a part

    def __len__(self) -> int:
        return len(self.first)


def parts(tokens: Tokens, count: int = 2, limit: int = 510) -> Parts:
    """Cut a document into `count` parts of about equal length, and each part into chunks of at most `limit` tokens.

    The cuts fall at headings; where there are too few of them at paragraphs, then at sentences, else between tokens. A
    document of fewer tokens than parts has fewer parts.
    """
    ranges = part_ranges(tokens, count, limit)
    return Parts(pieces_from(tokens, ranges.first, ranges.last), ranges.part, ranges.place)


def part_ranges(tokens: Tokens, count: int = 2, limit: int = 510) -> Ranges:
    """The chunks of `parts` without their characters: works where only the tokens are left of a document."""
    rows: list[tuple[int, int, int, int]] = []
    for part, (start, end) in enumerate(pairwise(part_bounds(tokens, count))):
        ends = piece_ends(tokens, start, end, limit)
        rows += [(first, last, part, place) for place, (first, last) in enumerate(pairwise([start, *ends]))]
    return Ranges(*np.array(rows, dtype=np.int64).reshape(-1, 4).T)


def part_bounds(tokens: Tokens, count: int) -> list[int]:
    """Where the parts begin, and the end: cuts as near to even as the document's own structure allows."""
    total = len(tokens)
    count = max(1, min(count, total))
    for candidates in _candidates(tokens):
        if len(candidates) >= count - 1:
            break
    bounds = [0]
    for number in range(1, count):
        left = candidates[candidates > bounds[-1]]
        left = left[: len(left) - (count - 1 - number)]  # leave a cut for each part to come
        bounds.append(int(left[np.abs(left - total * number / count).argmin()]))
    return [*bounds, total]


def _candidates(tokens: Tokens) -> list[Ints]:
    """Places to cut, the best kind first: before sections, paragraphs, sentences, tokens."""
    starts = tokens.sentence_offsets[1:-1]
    sections = starts[np.diff(tokens.sentence_section) > 0]
    paragraphs = starts[np.diff(tokens.sentence_paragraph) > 0]
    return [sections, paragraphs, starts, np.arange(1, len(tokens))]
