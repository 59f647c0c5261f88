"""Which blocks are headings, and the title: judged by numbers, style and place, against the document's own text."""

import re
from collections import Counter
from dataclasses import dataclass
from itertools import zip_longest

from longmatch.documents.pdf.blocks import Block, Body
from longmatch.documents.pdf.captions import CAPTION
from longmatch.documents.pdf.numbering import Number, consistent, read_number

KNOWN = re.compile(
    r"(?:abstract|summary|executive summary|introduction|background|related works?|conclusions?|discussion|acknowledge?ments?"
    r"|references|bibliography|works cited|literature|appendix|appendices|supplement(?:ary|al) materials?|contents|table of contents"
    r"|keywords|index terms|claims|what is claimed(?: is)?|preface|foreword|glossary|index|zusammenfassung|literatur(?:verzeichnis)?"
    r"|inhalt(?:sverzeichnis)?|einleitung|danksagung|résumé|références|bibliographie|摘要|参考文献|目录|结论|引言|致谢)\s*[:.：]?",
    re.IGNORECASE,
)
_OPENING = re.compile(
    r"abstract|(?:executive )?summary|introduction|(?:table of )?contents|preface|foreword|摘要|引言", re.IGNORECASE
)
_MOST_LINES, _MOST_CHARACTERS, _MOST_WORDS = 4, 220, 28

Style = tuple[float, bool, bool, bool]  # as Line.style gives it


@dataclass
class _Candidate:
    place: int
    block: Block
    number: Number | None
    distinct: bool  # its style is not that of the running text
    apart: bool  # white space stands above it, or it begins a column
    tops_table: bool  # a table follows close below

    @property
    def style(self) -> Style:
        return self.block.first.style


def plain(text: str) -> str:
    """A heading's letters and digits alone, for comparing.

    >>> plain("3.1  Word-Level LSTM")
    '31wordlevellstm'
    """
    return "".join(filter(str.isalnum, text.casefold()))


def mark_headings(blocks: list[Block], body: Body, bookmarks: frozenset[str] = frozenset()) -> None:
    """Set the kind of headings to "heading", with their level, and of the title to "title".

    `bookmarks` are the entries of the file's own outline, as `plain` gives them.
    """
    title = _title(blocks, body)
    candidates = [c for c in _candidates(blocks, body) if c.block.kind != "title"]
    chosen = _numbered(candidates, bookmarks)
    levels = _style_levels(chosen)
    start = _front_end(candidates, chosen, title)
    few = len(chosen) < 3
    taken = {id(c.block) for c in chosen}
    for candidate in candidates:
        if id(candidate.block) in taken or not _unnumbered(candidate, levels, body, bookmarks, few):
            continue
        if candidate.place >= start or _known(candidate.block):
            chosen.append(candidate)
    chosen.sort(key=lambda candidate: candidate.place)
    sizes = sorted({c.style for c in chosen if not c.number}, key=lambda s: (-s[0], not s[2], not s[1], s[3]))
    roman = any(c.number and c.number.series == "roman" for c in chosen)
    for candidate in _without_front(chosen):
        candidate.block.kind = "heading"
        candidate.block.level = _level(candidate, levels, sizes, roman)


def _without_front(chosen: list[_Candidate]) -> list[_Candidate]:
    """On the first page, of lines in one style with nothing between them only the last heads a section."""
    kept = []
    for candidate, after in zip_longest(chosen, chosen[1:]):
        front = (
            after is not None
            and after.place == candidate.place + 1
            and after.style == candidate.style
            and candidate.number is None
            and candidate.block.first.page == 1
        )
        if not front or _known(candidate.block):
            kept.append(candidate)
    return kept


def _numbered(candidates: list[_Candidate], bookmarks: frozenset[str]) -> list[_Candidate]:
    """The candidates whose numbers make a count; where those of one level look alike, the odd ones are left out."""
    numbered = [c for c in candidates if c.number and (c.distinct or _in(c, bookmarks))]
    for _ in range(2):
        kept = consistent([c.number for c in numbered if c.number], [_weight(c) for c in numbered])
        chosen = [c for c, keep in zip(numbered, kept, strict=True) if keep]
        usual = _usual_styles(chosen)
        alike = [c for c in numbered if _in(c, bookmarks) or _looks_usual(c, usual)]
        if len(alike) == len(numbered):
            break
        numbered = alike
    return chosen


def _weight(candidate: _Candidate) -> float:
    """How much a numbered candidate looks like a heading."""
    _, bold, upper, italic = candidate.style
    return (0.5 if italic and not (bold or upper) else 1.0) * (1.0 if candidate.apart else 0.6)


def _usual_styles(chosen: list[_Candidate]) -> dict[tuple[str, int], Style]:
    """The style most headings of a series and level have, heavier ones first."""
    seen: dict[tuple[str, int], Counter[Style]] = {}
    for candidate in chosen:
        if candidate.number:
            key = (candidate.number.series, candidate.number.level)
            seen.setdefault(key, Counter())[candidate.style] += 1
    return {
        key: max(counts, key=lambda style: (counts[style] * (1 + style[1] + style[2] - 0.5 * style[3]), style))
        for key, counts in seen.items()
        if sum(counts.values()) >= 3
    }


def _looks_usual(candidate: _Candidate, usual: dict[tuple[str, int], Style]) -> bool:
    if candidate.number is None or (style := usual.get((candidate.number.series, candidate.number.level))) is None:
        return True
    size, bold, upper, italic = candidate.style
    lighter = size < style[0] - 0.6 or (style[1] and not bold) or (style[2] and not upper and size < style[0])
    return not (lighter or (italic and not style[3]))


def _candidates(blocks: list[Block], body: Body) -> list[_Candidate]:
    found = []
    for place, block in enumerate(blocks):
        text, first = block.raw, block.first
        if block.kind != "text" or len(block.lines) > _MOST_LINES or len(text) > _MOST_CHARACTERS:
            continue
        if len(text.split()) > _MOST_WORDS or sum(map(str.isalpha, text)) < 2 or CAPTION.match(text):
            continue
        if re.search(r"[,;]$|[^.]\.$", text) and not KNOWN.fullmatch(text) and not (first.bold and len(text) < 80):
            continue
        before = blocks[place - 1] if place else None
        apart = (
            before is None
            or before.last.column != first.column
            or first.y - before.last.y > 1.25 * body.pitch * max(first.size, body.size)
            or before.kind != "text"
        )
        after = blocks[place + 1] if place + 1 < len(blocks) else None
        tops_table = (
            after is not None
            and after.kind == "table"
            and after.first.column == first.column
            and after.first.y - block.last.y < 2.5 * first.size
        )
        found.append(_Candidate(place, block, read_number(text), _distinct(block, body), apart, tops_table))
    return found


def _distinct(block: Block, body: Body) -> bool:
    if all(line.size > 1.06 * body.size for line in block.lines):
        return True
    if all(line.bold for line in block.lines) and not body.bold:
        return block.first.size > 0.93 * body.size
    upper = block.raw.isupper() and sum(map(str.isalpha, block.raw)) > 3 and not body.upper
    italic = all(line.italic for line in block.lines) and "ital" not in body.font.casefold()
    return (upper or italic) and block.first.size > 0.93 * body.size


def _known(block: Block) -> bool:
    return bool(KNOWN.fullmatch(block.raw.strip()))


def _in(candidate: _Candidate, bookmarks: frozenset[str]) -> bool:
    text = candidate.block.raw
    return plain(text) in bookmarks or (
        candidate.number is not None and plain(text[candidate.number.length :]) in bookmarks
    )


def _unnumbered(
    candidate: _Candidate, levels: dict[Style, int], body: Body, bookmarks: frozenset[str], few: bool
) -> bool:
    block, text = candidate.block, candidate.block.raw.strip()
    if _in(candidate, bookmarks):
        return True
    if not candidate.distinct:
        return False
    if _known(block):
        return True
    if (
        candidate.tops_table
        or not candidate.apart
        or not (text[:1].isupper() or not text[:1].isascii() or text[:1].isdigit())
        or text.endswith(".")
    ):
        return False
    if candidate.number is not None and candidate.number.series == "arabic" and not few:
        return False  # a number out of turn
    if any(_alike(candidate.style, style) for style in levels):
        return True
    largest = max((style[0] for style in levels), default=1.06 * body.size)
    if candidate.style[0] >= largest > 1.06 * body.size:
        return True
    if not few:
        return False
    size, bold, upper, italic = candidate.style
    return bold or upper or size > 1.06 * body.size or (italic and len(text.split()) <= 12 and text[-1:].isalnum())


def _alike(one: Style, other: Style) -> bool:
    return abs(one[0] - other[0]) <= 0.5 and one[1:] == other[1:] and any(one[1:])


def _style_levels(chosen: list[_Candidate]) -> dict[Style, int]:
    """The level each style of numbered headings stands for."""
    seen: dict[Style, Counter[int]] = {}
    for candidate in chosen:
        if candidate.number and candidate.distinct:
            seen.setdefault(candidate.style, Counter())[candidate.number.level] += 1
    return {style: counts.most_common(1)[0][0] for style, counts in seen.items()}


def _level(candidate: _Candidate, levels: dict[Style, int], sizes: list[Style], roman: bool) -> int:
    number = candidate.number
    if number is not None:
        return number.level + (1 if roman and number.series == "letter" else 0)
    if _known(candidate.block):
        return 1
    for style, level in levels.items():
        if _alike(candidate.style, style):
            return level
    if levels:
        return 1 if candidate.style[0] >= max(style[0] for style in levels) else max(levels.values()) + 1
    return sizes.index(candidate.style) + 1


def _title(blocks: list[Block], body: Body) -> Block | None:
    """The largest text in the upper part of the first page with text, if it is larger than the body."""
    if not blocks:
        return None
    page = blocks[0].first.page
    first = [block for block in blocks if block.first.page == page]
    top, bottom = min(b.first.y for b in first), max(b.last.y for b in first)
    upper = [
        block
        for block in first
        if block.first.y <= top + 0.6 * (bottom - top)
        and len(block.raw) <= 400
        and sum(map(str.isalpha, block.raw)) > 3
        and not _known(block)
        and block.kind == "text"
    ]
    if not upper:
        return None
    best = max(upper, key=lambda block: (round(block.first.size), -block.first.y))
    larger = best.first.size > 1.12 * body.size
    bold_first = best.first.bold and not body.bold and best is blocks[0] and not read_number(best.raw)
    if not (larger or bold_first) or (read_number(best.raw) and best.first.size < 1.3 * body.size):
        return None
    best.kind = "title"
    return best


def _front_end(candidates: list[_Candidate], chosen: list[_Candidate], title: Block | None) -> int:
    """Where the front matter ends: at the abstract or the first numbered heading near the beginning."""
    opening = [c.place for c in candidates if c.distinct and _OPENING.fullmatch(c.block.raw.strip())]
    first = [c.place for c in chosen if c.number and c.number.parts[0] == 1]
    ends = [place for place in opening + first if place < 40]
    return min(ends, default=0)
