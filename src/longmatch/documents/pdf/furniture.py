"""Page furniture: running heads, page numbers, line numbers in the margin."""

import re
from collections import Counter, defaultdict
from itertools import chain, pairwise

from longmatch.documents.pdf.fragments import Fragment, usual_size
from longmatch.documents.pdf.lines import rows_of

Pages = list[list[Fragment]]

_NUMBER = re.compile(r"\d{1,4}")
_PAGE_NUMBER = re.compile(
    r"[\W_]*(?:(?:page|seite|página|p\.)\s*)?(?:\d{1,4}|[ivxl]{1,7})(?:\s*(?:of|/|von|de|sur)\s*\d{1,4})?[\W_]*"
    r"|第\s*\d+\s*页.*",
    re.IGNORECASE,
)
_EDGE_ROWS = 3  # rows at the top and bottom of a page searched for running heads

Row = list[Fragment]
Key = tuple[str, str, int]  # a text with its numbers masked, the edge of the page ("top" or "bottom"), the height


def without_furniture(pages: Pages) -> Pages:
    """The pages without line numbers, running heads and page numbers."""
    pages = _without_line_numbers(pages)
    edges = [  # the outer rows of each page, outermost first, and the next one further in
        {"top": rows[: _EDGE_ROWS + 1], "bottom": rows[: -_EDGE_ROWS - 2 : -1]} for rows in map(rows_of, pages)
    ]
    max_size = 1.1 * usual_size(chain.from_iterable(pages))  # running heads are not larger than the body text
    texts = _repeated_texts(edges, max_size)
    zones: Counter[tuple[str, int]] = Counter()
    for page in edges:
        outermost = [(edge, fragment) for edge, rows in page.items() for fragment in (rows[0] if rows else [])]
        zones.update({(edge, _height(fragment)) for edge, fragment in outermost if _key(fragment, edge) in texts})
    shared = {zone for zone, count in zones.items() if count >= max(2, 0.2 * len(pages))}

    def is_head(row: Row, edge: str) -> bool:
        """Whether a row is a running head, is at a height where many pages have one, or is a page number."""
        if any(fragment.size > max_size for fragment in row):
            return False
        head = sum(len(fragment.text) for fragment in row if _key(fragment, edge) in texts)
        if head >= 0.4 * sum(len(fragment.text) for fragment in row):
            return True
        if any((edge, _height(fragment)) in shared for fragment in row):
            return True
        return len(row) == 1 and bool(_PAGE_NUMBER.fullmatch(row[0].text))

    cleaned = []
    for fragments, page in zip(pages, edges, strict=True):
        furniture: set[int] = set()
        for edge, rows in page.items():  # as many of the outermost rows as possible, with white space after the last
            last = 0
            for count, (row, inner) in enumerate(pairwise(rows), 1):
                if not is_head(row, edge):
                    break
                if abs(row[0].y - inner[0].y) > 1.4 * max(row[0].size, inner[0].size):
                    last = count
            furniture |= {id(fragment) for row in rows[:last] for fragment in row}
        cleaned.append([fragment for fragment in fragments if id(fragment) not in furniture])
    return cleaned


def _key(fragment: Fragment, edge: str) -> Key:
    text = re.sub(r"\d+|\b[ivxl]+\b", "#", re.sub(r"\s+", " ", fragment.text.casefold()))
    return text, edge, _height(fragment)


def _height(fragment: Fragment) -> int:
    return round(fragment.y / 6)


def _repeated_texts(pages: list[dict[str, list[Row]]], max_size: float) -> set[Key]:
    """Texts that recur at the same height of the page outside the running text, whatever their numbers."""
    seen: dict[Key, dict[int, str]] = defaultdict(dict)
    for number, page in enumerate(pages):
        for edge, rows in page.items():
            for fragment in (fragment for row in rows[:_EDGE_ROWS] for fragment in row if fragment.size <= max_size):
                seen[_key(fragment, edge)][number] = fragment.text
    near: set[Key] = set()
    for (text, edge, height), texts in seen.items():
        has_words = len(re.sub(r"[\W_]", "", text)) + text.count("#") >= 3 and not re.fullmatch(r"[#.\s]*", text)
        if has_words and (len(texts) >= 3 or (len(texts) == 2 and _counts_pages(texts))):
            # the neighbouring heights too: rounding may separate equal heights
            near |= {(text, edge, height + step) for step in (-1, 0, 1)}
    repeated: set[Key] = set()
    for edge, outwards in (("top", -1), ("bottom", 1)):
        # Beyond the running text, as it begins and ends on all but a few pages; the head of a table at the top is not
        extents = []
        for page in pages:
            prose = [f for row in page[edge] for f in row if f.prose and f.size > 0.85 * max_size]
            if text_heights := [outwards * f.y for f in prose if _key(f, edge) not in near]:
                extents.append(max(text_heights))
        limit = outwards * sorted(extents)[-1 - len(extents) // 20] if extents else 0.0
        repeated |= {key for key in near if key[1] == edge and outwards * (6 * key[2] - limit) > 7}
    return repeated


def _counts_pages(texts: dict[int, str]) -> bool:
    """Whether the numbers in two similar texts are equal or increase with the page number."""
    (page, text), (later, other) = texts.items()
    numbers = [(int(a), int(b)) for a, b in zip(_NUMBER.findall(text), _NUMBER.findall(other), strict=False)]
    return all(b - a in (0, later - page) for a, b in numbers)


def _without_line_numbers(pages: Pages) -> Pages:
    """Drop line numbers: columns of evenly increasing numbers over most of the page, on most pages with text."""
    numbered = [_number_columns(fragments) for fragments in pages]
    positions: Counter[int] = Counter()
    sizes: dict[int, float] = {}
    for columns in numbered:
        positions.update({_right_edge(column[0]) for column in columns})
        sizes |= {_right_edge(column[0]): column[0].size for column in columns}
    filled = sum(len(fragments) > 10 for fragments in pages)
    usual_sizes = {
        position + step: sizes[position]
        for position in positions
        for step in (-1, 0, 1)
        if sum(positions[position + near] for near in (-1, 0, 1)) >= 0.4 * filled
    }
    cleaned = []
    for fragments, columns in zip(pages, numbered, strict=True):
        usual = [column for column in columns if _right_edge(column[0]) in usual_sizes]
        numbers = {id(fragment) for column in usual or [_short_column(fragments, usual_sizes)] for fragment in column}
        cleaned.append([fragment for fragment in fragments if id(fragment) not in numbers])
    return cleaned


def _short_column(fragments: list[Fragment], usual_sizes: dict[int, float]) -> list[Fragment]:
    """The line numbers of a page with few lines, found by the position and size of those on other pages."""
    column = [
        fragment
        for fragment in sorted(fragments, key=lambda fragment: fragment.y)
        if _is_number(fragment.text) and abs(usual_sizes.get(_right_edge(fragment), -9.0) - fragment.size) < 0.3
    ]
    increasing = all(int(above.text) < int(below.text) for above, below in pairwise(column))
    return column if increasing else []


def _is_number(text: str) -> bool:
    return len(text) <= 4 and text.isdecimal()


def _right_edge(fragment: Fragment) -> int:
    return round(fragment.x1 / 8)


def _number_columns(fragments: list[Fragment]) -> list[list[Fragment]]:
    """Columns of evenly increasing numbers."""
    if not fragments:
        return []
    by_edge: dict[int, list[Fragment]] = defaultdict(list)
    for fragment in fragments:
        if _is_number(fragment.text):
            by_edge[round(fragment.x1 / 4)].append(fragment)
    height = max(fragment.y for fragment in fragments) - min(fragment.y for fragment in fragments)
    columns = []
    for edge in sorted(by_edge):
        column = sorted(by_edge.pop(edge, []) + by_edge.get(edge + 1, []), key=lambda fragment: fragment.y)
        if len(column) < 4 or column[-1].y - column[0].y <= 0.4 * height:
            continue
        steps = Counter(int(below.text) - int(above.text) for above, below in pairwise(column))
        step, times = steps.most_common(1)[0]
        if step in (1, 2, 5, 10) and times >= 0.8 * (len(column) - 1):
            columns.append(column)
            by_edge.pop(edge + 1, None)
    return columns
