"""Which blocks are headings: judged by numbers, style and place, against the document's own text."""

import re
from collections import Counter
from itertools import takewhile, zip_longest

from longmatch.documents.pdf.blocks import Block, Body
from longmatch.documents.pdf.candidates import Candidate, Style, find_candidates
from longmatch.documents.pdf.numbering import consistent
from longmatch.documents.pdf.title import mark_title

_OPENING = re.compile(
    r"abstract|(?:executive )?summary|introduction|(?:table of )?contents|preface|foreword|摘要|引言", re.IGNORECASE
)
_FRONT = 40  # the front matter ends within so many blocks


def mark_headings(blocks: list[Block], body: Body, bookmarks: frozenset[str] = frozenset()) -> list[Block]:
    """Set the kind of headings to "heading", with their level, and of the title to "title".

    `bookmarks` are the entries of the file's own outline, as `plain` gives them.
    """
    mark_title(blocks, body)
    candidates = find_candidates(blocks, body)
    chosen = _numbered(candidates, bookmarks)
    levels = _style_levels(chosen)
    start = _front_end(candidates, chosen)
    few = len(chosen) < 3
    taken = {candidate.place for candidate in chosen}
    for candidate in candidates:
        if candidate.place in taken or not _unnumbered(candidate, levels, body, bookmarks, few=few):
            continue
        if candidate.place >= start or candidate.known:
            chosen.append(candidate)
    chosen.sort(key=lambda candidate: candidate.place)
    styles = sorted({c.style for c in chosen if not c.number}, key=lambda s: (-s[0], not s[2], not s[1], s[3]))
    roman = any(c.number and c.number.series == "roman" for c in chosen)
    for candidate in _without_front(chosen):
        candidate.block.kind = "heading"
        candidate.block.level = _level(candidate, levels, styles, roman)
    _mark_front(blocks)
    return _labels_joined(blocks)


def _mark_front(blocks: list[Block]) -> None:
    """Names and places of authors between the title and the first heading are text, though they stand like a table."""
    for block in takewhile(lambda block: block.kind != "heading" and block.first.page == 1, blocks):
        parts = [re.split(r" {3,}", line.text) for line in block.lines]
        if block.kind == "table" and len({len(part) for part in parts}) == 1:
            block.kind = "text"
            block.text = "\n".join(" ".join(column) for column in zip(*parts, strict=True))  # one author a line


def _numbered(candidates: list[Candidate], bookmarks: frozenset[str]) -> list[Candidate]:
    """The candidates whose numbers make a count; where those of one level look alike, the odd ones are left out."""
    roman = sum(c.number is not None and c.number.series == "roman" and c.distinct for c in candidates) > 1
    numbered = [c for c in candidates if c.number and (c.listed(bookmarks) or _may_count(c, roman))]
    chosen: list[Candidate] = []
    for _ in range(2):
        kept = consistent([c.number for c in numbered if c.number], [_weight(c) for c in numbered])
        chosen = [c for c, keep in zip(numbered, kept, strict=True) if keep]
        usual = _usual_styles(chosen)
        alike = [c for c in numbered if c.listed(bookmarks) or _looks_usual(c, usual)]
        if len(alike) == len(numbered):
            break
        numbered = alike
    return chosen


def _may_count(candidate: Candidate, roman: bool) -> bool:
    """Whether a number is likely one: a lone "A" may as well be the word."""
    if candidate.number is not None and candidate.number.series == "letter" and not roman:
        return candidate.distinct and any(candidate.style[1:3])
    return candidate.distinct or (candidate.odd_font and candidate.apart)


def _weight(candidate: Candidate) -> float:
    """How much a numbered candidate looks like a heading."""
    _, bold, upper, italic = candidate.style
    plain_looks = not candidate.distinct or (italic and not (bold or upper))
    return (0.5 if plain_looks else 1.0) * (1.0 if candidate.apart else 0.6)


def _usual_styles(chosen: list[Candidate]) -> dict[tuple[str, int], Style]:
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


def _looks_usual(candidate: Candidate, usual: dict[tuple[str, int], Style]) -> bool:
    if candidate.number is None or (style := usual.get((candidate.number.series, candidate.number.level))) is None:
        return True
    size, bold, upper, italic = candidate.style
    lighter = size < style[0] - 0.6 or (style[1] and not bold) or (style[2] and not upper and size < style[0])
    return not (lighter or (italic and not style[3]))


def _unnumbered(
    candidate: Candidate, levels: dict[Style, int], body: Body, bookmarks: frozenset[str], *, few: bool
) -> bool:
    """Whether a candidate heads a section by its name or its looks; `few` says that numbers do not lead the way."""
    text = candidate.text
    if candidate.listed(bookmarks):
        return True
    if candidate.known and (candidate.distinct or (candidate.odd_font and candidate.apart)):
        return True
    if not candidate.distinct:
        return False
    if not re.search(r"[^\W\d_]{3}|[\u3400-\u9fff]{2}", text):
        return False  # a formula
    if candidate.before_table or not candidate.apart or text.endswith((".", ":")) or text[:1].islower():
        return False
    if candidate.number is not None and candidate.number.series == "arabic" and not few:
        return False  # a number out of turn
    if any(_alike(candidate.style, style) for style in levels):
        return True
    size, bold, upper, italic = candidate.style
    largest = max((style[0] for style in levels), default=1.06 * body.size)
    if size >= largest > 1.06 * body.size:
        return True
    if not few:
        return bold and candidate.before_text and len(candidate.block.lines) == 1 and _at_edge(candidate)
    return bold or upper or size > 1.06 * body.size or (italic and len(text.split()) <= 12 and text[-1:].isalnum())


def _at_edge(candidate: Candidate) -> bool:
    line = candidate.block.first
    return abs(line.x0 - line.left) < line.size and line.width < 0.8 * (line.right - line.left)


def _alike(one: Style, other: Style) -> bool:
    return abs(one[0] - other[0]) <= 0.5 and one[1:] == other[1:] and any(one[1:])


def _style_levels(chosen: list[Candidate]) -> dict[Style, int]:
    """The level each style of numbered headings stands for."""
    seen: dict[Style, Counter[int]] = {}
    for candidate in chosen:
        if candidate.number and candidate.distinct:
            seen.setdefault(candidate.style, Counter())[candidate.number.level] += 1
    return {style: counts.most_common(1)[0][0] for style, counts in seen.items()}


def _level(candidate: Candidate, levels: dict[Style, int], styles: list[Style], roman: bool) -> int:
    number = candidate.number
    if number is not None:
        return number.level + (1 if roman and number.series == "letter" else 0)
    if candidate.known:
        return 1
    for style, level in levels.items():
        if _alike(candidate.style, style):
            return level
    if levels:
        return 1 if candidate.style[0] >= max(style[0] for style in levels) else max(levels.values()) + 1
    return styles.index(candidate.style) + 1


def _front_end(candidates: list[Candidate], chosen: list[Candidate]) -> int:
    """Where the front matter ends: at the abstract or the first numbered heading near the beginning."""
    opening = [c.place for c in candidates if c.distinct and _OPENING.fullmatch(c.text)]
    first = [c.place for c in chosen if c.number and c.number.parts[0] == 1]
    return min((place for place in opening + first if place < _FRONT), default=0)


def _without_front(chosen: list[Candidate]) -> list[Candidate]:
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
        if not front or candidate.known:
            kept.append(candidate)
    return kept


def _labels_joined(blocks: list[Block]) -> list[Block]:
    """One heading of a label like "Chapter 2" and the name set below it."""
    result: list[Block] = []
    for block in blocks:
        label = result[-1] if result else None
        if (
            label is not None
            and label.kind == block.kind == "heading"
            and re.fullmatch(
                r"(?:chapter|part|appendix|annex|kapitel|teil|chapitre)\s+\w{1,5}[.:]?", label.raw, re.IGNORECASE
            )
            and label.last.page == block.first.page
        ):
            label.lines += block.lines
        else:
            result.append(block)
    return result
