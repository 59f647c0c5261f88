"""The three ways of cutting a document: CoLDE's chunks, SMITH's blocks, SDR's sentences.

All of them cover the running text in order, without overlap, and no piece is longer than its limit.
"""

from itertools import pairwise

import numpy as np

from longmatch.units.pieces import Pieces, pieces_from
from longmatch.units.tokens import Ints, Tokens


def sentences(tokens: Tokens, limit: int) -> Pieces:
    """One piece a sentence; a sentence of more than `limit` tokens becomes several."""
    cuts = [0]
    for start, end in pairwise(tokens.sentence_offsets.tolist()):
        cuts += cut_range(tokens, start, end, limit)
    return pieces_from(tokens, cuts[:-1], cuts[1:])


def chunks(tokens: Tokens, limit: int = 510) -> Pieces:
    """CoLDE's chunks: as many tokens as fit, of one section, whole words, no overlap."""
    cuts = [0]
    changes = np.flatnonzero(np.diff(tokens.sentence_section)) + 1
    bounds = [0, *tokens.sentence_offsets[changes].tolist(), len(tokens)]
    for start, end in pairwise(bounds):
        cuts += cut_range(tokens, start, end, limit)
    return pieces_from(tokens, cuts[:-1], cuts[1:])


def blocks(tokens: Tokens, limit: int = 32, *, cut_long: bool = False) -> Pieces:
    """SMITH's greedy sentence filling (section 4.1.1): whole sentences until the next one does not fit.

    A sentence longer than a block opens a block and goes on in the following ones; `cut_long` drops what does not fit
    into its first block instead, as the paper does.
    """
    return pieces_from(tokens, *block_ranges(tokens, limit, cut_long=cut_long))


def block_ranges(
    tokens: Tokens, limit: int = 32, *, cut_long: bool = False, most: int | None = None
) -> tuple[Ints, Ints]:
    """The blocks without their characters, block i being the tokens first[i]:last[i]; the first `most` of them.

    Works where only the tokens are left of a document, as on a shelf.
    """
    first: list[int] = []
    last: list[int] = []
    for start, end in pairwise(tokens.sentence_offsets.tolist()):
        if first and last[-1] == start and end - first[-1] <= limit:
            last[-1] = end
            continue
        if most is not None and len(first) >= most:
            break
        cuts = [start, *cut_range(tokens, start, end, limit)]
        if cut_long:
            cuts = cuts[:2]
        first += cuts[:-1]
        last += cuts[1:]
    return np.array(first[:most], dtype=np.int64), np.array(last[:most], dtype=np.int64)


def cut_range(tokens: Tokens, start: int, end: int, limit: int) -> list[int]:
    """Where the pieces of tokens start:end end: every `limit` tokens, or at the last word start shortly before."""
    ends = []
    while end - start > limit:
        stop = start + limit
        gaps = np.flatnonzero(tokens.word_starts[stop - limit // 4 : stop + 1])
        stop = stop - limit // 4 + int(gaps[-1]) if len(gaps) else stop
        ends.append(stop)
        start = stop
    if end > start:
        ends.append(end)
    return ends
