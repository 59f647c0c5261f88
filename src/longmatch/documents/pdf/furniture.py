"""What stands on a page beside the text: running heads, page numbers, line numbers in the margin."""

import re
from collections import Counter, defaultdict
from dataclasses import dataclass
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

Row = list[Piece]
Key = tuple[str, str, int]  # a text with its numbers blotted out, which edge of the page, at which height


@dataclass(frozen=True)
class _Heads:
    """What the pages have in common at their edges."""

    texts: set[Key]
    zones: set[tuple[str, int]]  # heights at which many pages have one of the texts
    largest: float  # no head is larger than the body's letters

    def rows(self, rows: list[Row], edge: str) -> list[Row]:
        """The rows, outermost first, that are furniture: as many as may be, with white space after the last."""
        found: list[Row] = []
        for count, (row, inner) in enumerate(pairwise(rows), 1):
            if not self._fits(row, edge):
                break
            if abs(row[0].y - inner[0].y) > 1.4 * max(row[0].size, inner[0].size):
                found = rows[:count]
        return found

    def _fits(self, row: Row, edge: str) -> bool:
        """Whether a row is a running head, stands where those stand, or is a page number."""
        if any(piece.size > self.largest for piece in row):
            return False
        head = sum(len(piece.text) for piece in row if _key(piece, edge) in self.texts)
        if head >= 0.4 * sum(len(piece.text) for piece in row):
            return True
        if any((edge, _place(piece)) in self.zones for piece in row):
            return True
        return len(row) == 1 and bool(_PAGE_NUMBER.fullmatch(row[0].text))


def without_furniture(pages: Pages) -> Pages:
    """The pages without line numbers, running heads and page numbers."""
    pages = _without_line_numbers(pages)
    edges = [_edge_rows(pieces) for pieces in pages]
    largest = 1.1 * _usual_size(pages)
    texts = _running_heads(edges, largest)
    heads = _Heads(texts, _head_zones(edges, texts), largest)
    cleaned = []
    for pieces, page in zip(pages, edges, strict=True):
        gone = {id(p) for edge, rows in page.items() for row in heads.rows(rows, edge) for p in row}
        cleaned.append([piece for piece in pieces if id(piece) not in gone])
    return cleaned


def _usual_size(pages: Pages) -> float:
    sizes: Counter[float] = Counter()
    for pieces in pages:
        for piece in pieces:
            sizes[round(piece.size, 1)] += len(piece.text)
    return sizes.most_common(1)[0][0] if sizes else 0.0


def _edge_rows(pieces: list[Piece]) -> dict[str, list[Row]]:
    """The outer rows of a page, the outermost first, and the one after them."""
    rows = rows_of(pieces)
    return {"top": rows[: _EDGE_ROWS + 1], "bottom": rows[: -_EDGE_ROWS - 2 : -1]}


def _key(piece: Piece, edge: str) -> Key:
    text = re.sub(r"\d+|\b[ivxl]+\b", "#", re.sub(r"\s+", " ", piece.text.casefold()))
    return text, edge, _place(piece)


def _place(piece: Piece) -> int:
    return round(piece.y / 6)


def _running_heads(pages: list[dict[str, list[Row]]], largest: float) -> set[Key]:
    """Texts, numbers aside, that come back at the same height of the page; never larger than the body's."""
    seen: dict[Key, dict[int, str]] = defaultdict(dict)
    for number, page in enumerate(pages):
        for edge, rows in page.items():
            for piece in (piece for row in rows[:_EDGE_ROWS] for piece in row if piece.size <= largest):
                seen[_key(piece, edge)][number] = piece.text
    found = {
        key
        for key, texts in seen.items()
        if len(re.sub(r"[\W_]", "", key[0])) + key[0].count("#") >= 3
        and not re.fullmatch(r"[#.\s]*", key[0])
        and (len(texts) >= 3 or (len(texts) == 2 and _counts_pages(texts)))
    }
    # the neighbouring heights too: rounding may part what stands at one height
    near = {(text, edge, place + step) for text, edge, place in found for step in (-1, 0, 1)}
    frame = _frame(pages, near, 0.85 * largest)
    return {key for key in near if _outside(key, frame)}


def _frame(pages: list[dict[str, list[Row]]], heads: set[Key], smallest: float) -> dict[str, float]:
    """The heights at which the running text usually begins and ends, the odd page aside."""
    frame = {}
    for edge, outwards in (("top", -1), ("bottom", 1)):
        reach = sorted(
            max(outwards * piece.y for piece in text)
            for page in pages
            if (
                text := [
                    p for row in page[edge] for p in row if p.prose and p.size > smallest and _key(p, edge) not in heads
                ]
            )
        )
        frame[edge] = outwards * reach[-1 - len(reach) // 20] if reach else 0.0
    return frame


def _outside(key: Key, frame: dict[str, float]) -> bool:
    """Whether a height lies beyond the running text: the head of a table at the top of a page does not."""
    _, edge, place = key
    return 6 * place < frame[edge] - 7 if edge == "top" else 6 * place > frame[edge] + 7


def _head_zones(pages: list[dict[str, list[Row]]], heads: set[Key]) -> set[tuple[str, int]]:
    """Heights at which many pages have a running head: what else stands there, alone, is one too."""
    seen: Counter[tuple[str, int]] = Counter()
    for page in pages:
        seen.update(
            {
                (edge, _place(piece))
                for edge, rows in page.items()
                for piece in (rows[0] if rows else [])
                if _key(piece, edge) in heads
            }
        )
    return {zone for zone, count in seen.items() if count >= max(2, 0.2 * len(pages))}


def _counts_pages(texts: dict[int, str]) -> bool:
    """Whether the numbers in two like texts rise as the pages do, or there are none."""
    (page, text), (later, other) = texts.items()
    numbers = [(int(a), int(b)) for a, b in zip(_NUMBER.findall(text), _NUMBER.findall(other), strict=False)]
    return all(b - a in (0, later - page) for a, b in numbers)


def _without_line_numbers(pages: Pages) -> Pages:
    """Drop columns of numbers that count lines: evenly rising, over most of the page, on most pages that hold text."""
    found = [_counting_columns(pieces) for pieces in pages]
    places: Counter[int] = Counter()
    sizes: dict[int, float] = {}
    for columns in found:
        places.update({_across(column[0]) for column in columns})
        sizes |= {_across(column[0]): column[0].size for column in columns}
    filled = sum(len(pieces) > 10 for pieces in pages)
    usual = {
        place + step: sizes[place]
        for place in places
        for step in (-1, 0, 1)
        if sum(places[place + near] for near in (-1, 0, 1)) >= 0.4 * filled
    }
    result = []
    for pieces, columns in zip(pages, found, strict=True):
        counted = [column for column in columns if _across(column[0]) in usual]
        gone = {id(piece) for column in counted or [_short_column(pieces, usual)] for piece in column}
        result.append([piece for piece in pieces if id(piece) not in gone])
    return result


def _short_column(pieces: list[Piece], usual: dict[int, float]) -> list[Piece]:
    """The line numbers of a page with few lines: they stand where those of the other pages do, in the same size."""
    column = [
        piece
        for piece in sorted(pieces, key=lambda piece: piece.y)
        if _NUMBER.fullmatch(piece.text) and abs(usual.get(_across(piece), -9.0) - piece.size) < 0.3
    ]
    rising = all(int(above.text) < int(below.text) for above, below in pairwise(column))
    return column if rising else []


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
