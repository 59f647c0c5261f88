"""What stands on a page beside the text: running heads, page numbers, line numbers in the margin."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import pairwise

from longmatch.documents.pdf.lines import rows_of
from longmatch.documents.pdf.pieces import Piece

Pages = list[list[Piece]]

_NUMBER = re.compile(r"\d{1,4}")
_PAGE_NUMBER = re.compile(
    r"[\W_]*(?:(?:page|seite|página|p\.)\s*)?(?:\d{1,4}|[ivxl]{1,7})(?:\s*(?:of|/|von|de|sur)\s*\d{1,4})?[\W_]*"
    r"|第\s*\d+\s*页.*",
    re.IGNORECASE,
)
_EDGE_ROWS = 3  # rows at the top and at the bottom among which running heads are looked for


def without_furniture(pages: Pages) -> Pages:
    """The pages without line numbers, running heads and page numbers."""
    pages = _without_line_numbers(pages)
    heads = _running_heads(pages)
    cleaned = []
    for pieces in pages:
        gone = set()
        for row, edge in _edge_rows(pieces):
            rest = [piece for piece in row if (_pattern(piece), edge, _place(piece)) not in heads]
            if len(rest) < len(row) and all(_PAGE_NUMBER.fullmatch(piece.text) for piece in rest):
                gone |= {id(piece) for piece in row}
            else:
                gone |= {id(piece) for piece in row if piece not in rest}
        gone |= {id(piece) for piece in _page_numbers([piece for piece in pieces if id(piece) not in gone])}
        cleaned.append([piece for piece in pieces if id(piece) not in gone])
    return cleaned


def _pattern(piece: Piece) -> str:
    return re.sub(r"\d+|\b[ivxl]+\b", "#", re.sub(r"\s+", " ", piece.text.casefold()))


def _place(piece: Piece) -> int:
    return round(piece.y / 6)


def _edge_rows(pieces: list[Piece]) -> Iterator[tuple[list[Piece], str]]:
    rows = rows_of(pieces)
    for edge, chosen in (("top", rows[:_EDGE_ROWS]), ("bottom", rows[-_EDGE_ROWS:])):
        for row in chosen:
            yield row, edge


def _running_heads(pages: Pages) -> set[tuple[str, str, int]]:
    """Texts, numbers aside, that come back at the same height of the page."""
    seen: dict[tuple[str, str, int], dict[int, str]] = defaultdict(dict)
    for page, pieces in enumerate(pages):
        for row, edge in _edge_rows(pieces):
            for piece in row:
                seen[_pattern(piece), edge, _place(piece)][page] = piece.text
    found = {
        key
        for key, texts in seen.items()
        if not re.fullmatch(r"[#.\s]*", key[0]) and (len(texts) >= 3 or (len(texts) == 2 and _counts_pages(texts)))
    }
    # the neighbouring heights too: rounding may part what stands at one height
    return {(text, edge, place + step) for text, edge, place in found for step in (-1, 0, 1)}


def _counts_pages(texts: dict[int, str]) -> bool:
    """Whether the numbers in two like texts rise as the pages do, or there are none."""
    (page, text), (later, other) = texts.items()
    numbers = [(int(a), int(b)) for a, b in zip(_NUMBER.findall(text), _NUMBER.findall(other), strict=False)]
    return all(b - a in (0, later - page) for a, b in numbers)


def _page_numbers(pieces: list[Piece]) -> Iterator[Piece]:
    """A number alone in the first or last row."""
    rows = rows_of(pieces)
    if len(rows) < 3:
        return
    for row, neighbour in ((rows[0], rows[1]), (rows[-1], rows[-2])):
        apart = abs(row[0].y - neighbour[0].y) > 1.4 * max(row[0].size, neighbour[0].size)
        if len(row) == 1 and _PAGE_NUMBER.fullmatch(row[0].text) and apart:
            yield row[0]


def _without_line_numbers(pages: Pages) -> Pages:
    """Drop columns of numbers that count lines: evenly rising, over most of the page, on most pages that hold text."""
    found = [_counting_columns(pieces) for pieces in pages]
    places: Counter[int] = Counter()
    for columns in found:
        places.update({_across(column[0]) for column in columns})
    filled = sum(len(pieces) > 10 for pieces in pages)
    result = []
    for pieces, columns in zip(pages, found, strict=True):
        gone = {
            id(piece)
            for column in columns
            if sum(places[_across(column[0]) + step] for step in (-1, 0, 1)) >= 0.4 * filled
            for piece in column
        }
        result.append([piece for piece in pieces if id(piece) not in gone])
    return result


def _across(piece: Piece) -> int:
    return round(piece.x1 / 8)


def _counting_columns(pieces: list[Piece]) -> list[list[Piece]]:
    if not pieces:
        return []
    by_place: dict[int, list[Piece]] = defaultdict(list)
    for piece in pieces:
        if _NUMBER.fullmatch(piece.text):
            by_place[round(piece.x1 / 4)].append(piece)
    height = max(piece.y for piece in pieces) - min(piece.y for piece in pieces)
    columns = []
    for place in sorted(by_place):
        column = sorted(by_place.pop(place, []) + by_place.get(place + 1, []), key=lambda piece: piece.y)
        if len(column) >= 4 and _counts(column, height):
            columns.append(column)
            by_place.pop(place + 1, None)
    return columns


def _counts(column: list[Piece], height: float) -> bool:
    steps = Counter(int(below.text) - int(above.text) for above, below in pairwise(column))
    (step, times), *_ = steps.most_common(1)
    long_enough = column[-1].y - column[0].y > 0.4 * height
    return step in (1, 2, 5, 10) and times >= 0.8 * (len(column) - 1) and long_enough
