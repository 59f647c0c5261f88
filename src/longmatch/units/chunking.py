"""Three ways to split a document: CoLDE's chunks, SMITH's blocks, SDR's sentences.

All of them cover the running text in order, without overlap; no piece has more than `limit` tokens.
"""

from itertools import pairwise

import numpy as np

from longmatch.units.pieces import Pieces, pieces_from
from longmatch.units.tokens import Ints, Tokens


def sentences(tokens: Tokens, limit: int) -> Pieces:
    """One piece per sentence; a sentence of more than `limit` tokens becomes several."""
    offsets = [0]
    for start, end in pairwise(tokens.sentence_offsets.tolist()):
        offsets += piece_ends(tokens, start, end, limit)
    return pieces_from(tokens, offsets[:-1], offsets[1:])


def chunks(tokens: Tokens, limit: int = 510) -> Pieces:
    """CoLDE's chunks: up to `limit` tokens of one section, whole words, no overlap."""
    offsets = [0]
    section_starts = np.flatnonzero(np.diff(tokens.sentence_section)) + 1
    bounds = [0, *tokens.sentence_offsets[section_starts].tolist(), len(tokens)]
    for start, end in pairwise(bounds):
        offsets += piece_ends(tokens, start, end, limit)
    return pieces_from(tokens, offsets[:-1], offsets[1:])


def blocks(tokens: Tokens, limit: int = 32, *, cut_long: bool = False) -> Pieces:
    """SMITH's greedy sentence filling (section 4.1.1): whole sentences until the next one does not fit.

    A sentence longer than a block starts a new block and continues in the following ones; with `cut_long` its rest is
    dropped instead, as in the paper.
    """
    return pieces_from(tokens, *block_ranges(tokens, limit, cut_long=cut_long))


def block_ranges(
    tokens: Tokens, limit: int = 32, *, cut_long: bool = False, max_blocks: int | None = None
) -> tuple[Ints, Ints]:
    """Token ranges of the first `max_blocks` blocks: block i has the tokens first[i]:last[i].

    Needs only the tokens, so it also works for stored tokens without the document's text.
    """
    first: list[int] = []
    last: list[int] = []
    for start, end in pairwise(tokens.sentence_offsets.tolist()):
        if first and last[-1] == start and end - first[-1] <= limit:
            last[-1] = end
            continue
        if max_blocks is not None and len(first) >= max_blocks:
            break
        offsets = [start, *piece_ends(tokens, start, end, limit)]
        if cut_long:
            offsets = offsets[:2]
        first += offsets[:-1]
        last += offsets[1:]
    return np.array(first[:max_blocks], dtype=np.int64), np.array(last[:max_blocks], dtype=np.int64)


def piece_ends(tokens: Tokens, start: int, end: int, limit: int) -> list[int]:
    """End offsets of the pieces of tokens start:end: every `limit` tokens, or at the last word start shortly before."""
    ends = []
    while end - start > limit:
        stop = start + limit
        word_start = int(tokens.last_word_start[stop])
        stop = word_start if word_start >= stop - limit // 4 else stop
        ends.append(stop)
        start = stop
    if end > start:
        ends.append(end)
    return ends
