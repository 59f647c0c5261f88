"""What is set into a column of text: a figure the text runs around, a caption beside another."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

from longmatch.documents.pdf.captions import CAPTION
from longmatch.documents.pdf.lines import rows_of
from longmatch.documents.pdf.pieces import Piece

_LEAST_LINES = 4  # beside an inset


def without_insets(pieces: list[Piece]) -> Iterator[list[Piece]]:
    """Each inset by itself, then the column's pieces without them."""
    groups = list(_insets(pieces)) + [list(map(_mirrored, inset)) for inset in _insets(list(map(_mirrored, pieces)))]
    keys = [{(piece.x0, piece.y, piece.text) for piece in group} for group in groups]
    gone = set().union(*keys)
    rest = [piece for piece in pieces if (piece.x0, piece.y, piece.text) not in gone]
    captions = _side_captions(rest)
    taken = {id(piece) for caption in captions for piece in caption}
    yield from groups
    yield [piece for piece in rest if id(piece) not in taken]
    yield from captions


def _mirrored(piece: Piece) -> Piece:
    return replace(piece, x0=-piece.x1, x1=-piece.x0)


def _insets(pieces: list[Piece]) -> Iterator[list[Piece]]:
    """What stands right of lines that all stop at one place, well before the column's edge."""
    prose = [piece for piece in pieces if piece.prose]
    if len(prose) < 4:
        return
    left = sorted(piece.x0 for piece in prose)[len(prose) // 10]
    right = sorted(piece.x1 for piece in prose)[-1 - len(prose) // 10]
    width = right - left
    narrow = [
        piece
        for piece in prose
        if abs(piece.x0 - left) < 2.5 * piece.size and left + 0.25 * width < piece.x1 < right - 0.15 * width
    ]
    taken: set[int] = set()
    for edge in sorted({round(piece.x1) for piece in narrow}):
        lines = sorted((piece for piece in narrow if abs(piece.x1 - edge) < 1.5), key=lambda piece: piece.y)
        for run in _runs(lines, pieces, edge):
            top, bottom = _reach(run, pieces, edge)
            inset = [p for p in pieces if p.x0 > edge + 2 and top < p.y < bottom and id(p) not in taken]
            if inset and _letters(inset) < _letters(run):
                taken |= {id(piece) for piece in inset}
                yield inset


def _letters(pieces: list[Piece]) -> int:
    return sum(len(piece.text) for piece in pieces if piece.prose)


def _crosses(piece: Piece, edge: float) -> bool:
    return piece.x0 < edge - 4 and piece.x1 > edge + 4


def _runs(lines: list[Piece], pieces: list[Piece], edge: float) -> Iterator[list[Piece]]:
    """Four lines or more that stop at the edge, close below each other and with nothing across it between them."""
    run: list[Piece] = []
    for line in lines:
        if run and (
            line.y - run[-1].y > 4 * line.size
            or any(_crosses(piece, edge) and run[-1].y < piece.y < line.y for piece in pieces)
        ):
            if len(run) >= _LEAST_LINES:
                yield run
            run = []
        run.append(line)
    if len(run) >= _LEAST_LINES:
        yield run


def _reach(run: list[Piece], pieces: list[Piece], edge: float) -> tuple[float, float]:
    """How far up and down the edge is free."""
    across = [piece.y for piece in pieces if _crosses(piece, edge)]
    top = max((y for y in across if y < run[0].y), default=float("-inf"))
    bottom = min((y for y in across if y > run[-1].y), default=float("inf"))
    return top, bottom


def _side_captions(pieces: list[Piece]) -> list[list[Piece]]:
    """Captions with other text to their left, as that of the second of two figures."""
    captions: list[list[Piece]] = []
    rows = rows_of(pieces)
    for index, row in enumerate(rows):
        for before, piece in pairwise(row):
            found = CAPTION.match(piece.text)
            if (
                not found
                or not (found["after"] or found["zh"] or "").strip()
                or piece.x0 - before.x1 < 0.5 * piece.size
            ):
                continue
            caption = [piece]
            for below in rows[index + 1 :]:
                follower = next((p for p in below if p.x0 > before.x1 and abs(p.x0 - piece.x0) < 1.5 * p.size), None)
                if follower is None or follower.y - caption[-1].y > 1.6 * follower.size:
                    break
                caption.append(follower)
            captions.append(caption)
    return captions
