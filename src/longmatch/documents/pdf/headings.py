"""Find the title and the headings by numbering, style and position, compared with the running text."""

import re
from collections import Counter, defaultdict
from collections.abc import Set
from dataclasses import dataclass
from itertools import pairwise, takewhile, zip_longest

from longmatch.documents.pdf.blocks import LIST_ITEM, Body, LayoutBlock, merged
from longmatch.documents.pdf.lines import CAPTION_LABEL
from longmatch.documents.pdf.numbering import Number, consistent, read_number
from longmatch.documents.text import nested_items

STANDARD_HEADING = re.compile(
    r"(?:abstract|(?:executive )?summary|introduction|background|related works?|conclusions?|discussion|keywords"
    r"|acknowledge?ments?|references|bibliography|works cited|literature|appendix|appendices|index terms|preface"
    r"|foreword|supplement(?:ary|al) materials?|(?:table of )?contents|claims|what is claimed(?: is)?|glossary|index"
    r"|zusammenfassung|literatur(?:verzeichnis)?|inhalt(?:sverzeichnis)?|einleitung|danksagung|résumé|références"
    r"|bibliographie|摘要|参考文献|目录|结论|引言|致谢)\s*[:.：]?",
    re.IGNORECASE,
)
_CODE_START = re.compile(r"[\\{}<>%=/]")  # how a line of code may begin but a heading does not
_WORDLESS_TITLE = re.compile(r"(?:\d{1,3}[.):]\s+)?\d{1,4}(?:[-–/.+]\d{1,4}){0,4}")
_MAX_LINES, _MAX_CHARACTERS, _MAX_WORDS = 4, 220, 28

Style = tuple[float, bool, bool, bool]  # see Line.style
_OPENING = re.compile(
    r"abstract|(?:executive )?summary|introduction|(?:table of )?contents|preface|foreword|摘要|引言", re.IGNORECASE
)
_LABEL = re.compile(r"(?:chapter|part|appendix|annex|kapitel|teil|chapitre)\s+\w{1,5}[.:]?", re.IGNORECASE)
_MAX_FRONT_MATTER = 40  # blocks


@dataclass
class Candidate:
    """A block that may be a heading."""

    index: int  # among the blocks
    block: LayoutBlock
    number: Number | None
    distinct: bool  # differs from the running text in size, weight, capitals or slant
    other_font: bool  # differs from the running text in font
    apart: bool  # has white space above it, or begins a column
    before_text: bool  # running text follows in its column
    before_table: bool  # a table follows directly below

    @property
    def style(self) -> Style:
        """The style of its first line."""
        return self.block.first.style

    @property
    def text(self) -> str:
        """Its words."""
        return self.block.raw.strip()

    @property
    def standard(self) -> bool:
        """Whether it is a standard heading, such as "Introduction"."""
        return bool(STANDARD_HEADING.fullmatch(self.text))

    def listed(self, bookmarks: Set[str]) -> bool:
        """Whether the file's outline contains it, with or without its number."""
        unnumbered = normalise(self.text[self.number.length :]) if self.number else ""
        return normalise(self.text) in bookmarks or unnumbered in bookmarks


def normalise(text: str) -> str:
    """The letters and digits of a heading, for comparison.

    >>> normalise("3.1  Word-Level LSTM")
    '31wordlevellstm'
    """
    return "".join(filter(str.isalnum, text.casefold()))


def find_candidates(blocks: list[LayoutBlock], body: Body) -> list[Candidate]:
    """The blocks short enough for a heading that do not end like a sentence."""
    candidates = []
    for index, block in enumerate(blocks):
        if not _is_possible(block, body):
            continue
        first = block.first
        apart = index == 0 or blocks[index - 1].last.column != first.column or blocks[index - 1].kind != "text"
        if not apart:
            gap = first.y - blocks[index - 1].last.y
            apart = gap > 1.25 * body.leading * max(first.size, body.size)
        before_text = before_table = False
        if index + 1 < len(blocks) and blocks[index + 1].first.column == first.column:
            below = blocks[index + 1]
            gap = below.first.y - block.last.y
            is_text = is_running_text(below, body) and not LIST_ITEM.match(below.raw)
            before_text = is_text and gap < 4 * body.size
            before_table = below.kind == "table" and gap < 2.5 * first.size
        distinct, number = _is_distinct(block, body), read_number(block.raw)
        other_font = all(line.font != body.font and not line.mono for line in block.lines)
        candidates.append(Candidate(index, block, number, distinct, other_font, apart, before_text, before_table))
    return candidates


def _count_letters(text: str) -> int:
    return sum(map(str.isalpha, text))


def _is_possible(block: LayoutBlock, body: Body) -> bool:
    text = block.raw
    if block.kind != "text" or len(block.lines) > _MAX_LINES or len(text) > _MAX_CHARACTERS:
        return False
    if _CODE_START.match(text) or CAPTION_LABEL.match(text):
        return False
    if len(text.split()) > _MAX_WORDS or text.count("(") > text.count(")") or text.endswith((",", ";")):
        return False
    if _count_letters(text) < 2:
        return bool(_WORDLESS_TITLE.fullmatch(text)) and block.first.size > 1.06 * body.size
    if STANDARD_HEADING.fullmatch(text) or (block.first.bold and len(text) < 80):
        return True
    return not re.search(r"[^.]\.$", text)


def is_running_text(block: LayoutBlock, body: Body) -> bool:
    """Whether a block is set like running text."""
    return block.kind == "text" and abs(block.first.size - body.size) < 0.05 * body.size and not block.first.bold


def _is_distinct(block: LayoutBlock, body: Body) -> bool:
    if all(line.size > 1.06 * body.size for line in block.lines):
        return True
    bold = all(line.bold for line in block.lines) and not body.bold
    upper = block.raw.isupper() and _count_letters(block.raw) > 3 and not body.upper
    italic = all(line.italic for line in block.lines) and "ital" not in body.font.casefold()
    min_size = 0.8 if bold and (upper or STANDARD_HEADING.fullmatch(block.raw)) else 0.88 if bold else 0.93
    return (bold or upper or italic) and block.first.size > min_size * body.size


def mark_headings(blocks: list[LayoutBlock], body: Body, bookmarks: Set[str]) -> list[LayoutBlock]:
    """Set the kind of headings to "heading", with their level, and that of the title to "title".

    `bookmarks` are the normalised entries of the file's outline.
    """
    _mark_title(blocks, body)
    candidates = find_candidates(blocks, body)
    chosen = _numbered_headings(candidates, bookmarks)
    seen: defaultdict[Style, Counter[int]] = defaultdict(Counter)
    for candidate in chosen:
        if candidate.number and candidate.distinct:
            seen[candidate.style][candidate.number.level] += 1
    levels = {style: counts.most_common(1)[0][0] for style, counts in seen.items()}
    # The front matter ends at the abstract or the first numbered heading near the beginning
    opening = [c.index for c in candidates if c.distinct and _OPENING.fullmatch(c.text)]
    opening += [c.index for c in chosen if c.number and c.number.series != "letter" and c.number.parts[0] == 1]
    start = min((index for index in opening if index < _MAX_FRONT_MATTER), default=0)
    few_numbered = len(chosen) < 3
    numbered = {candidate.index for candidate in chosen}
    for candidate in candidates:
        if candidate.index in numbered or not _is_heading(candidate, levels, body, bookmarks, few_numbered):
            continue
        if candidate.index >= start or candidate.standard:
            chosen.append(candidate)
    chosen += _set_like_others(start, candidates, chosen)
    chosen.sort(key=lambda candidate: candidate.index)
    styles = sorted({c.style for c in chosen if not c.number}, key=lambda s: (-s[0], not s[2], not s[1], s[3]))
    roman = any(c.number and c.number.series == "roman" for c in chosen)
    for candidate, after in zip_longest(chosen, chosen[1:]):
        is_followed = after is not None and after.index == candidate.index + 1 and after.style == candidate.style
        on_title_page = candidate.number is None and candidate.block.first.page == 1 and not candidate.standard
        if is_followed and on_title_page:
            continue  # front matter, but for the last of several in one style
        candidate.block.kind = "heading"
        candidate.block.level = _level(candidate, levels, styles, roman)
    _mark_authors(blocks)

    def below_label(label: LayoutBlock, block: LayoutBlock) -> bool:  # such as "Chapter 2"
        are_headings = label.kind == block.kind == "heading" and label.last.page == block.first.page
        return are_headings and _LABEL.fullmatch(label.raw) is not None

    return merged(blocks, below_label)


def _mark_title(blocks: list[LayoutBlock], body: Body) -> None:
    """Mark the largest text in the upper part of the first page, if larger than the body, as the title.

    If nothing is larger, a bold first line is the title.
    """
    if not blocks:
        return
    first_page = [block for block in blocks if block.first.page == blocks[0].first.page]
    top, bottom = min(block.first.y for block in first_page), max(block.last.y for block in first_page)
    upper = [block for block in first_page if block.first.y <= top + 0.6 * (bottom - top)]
    titles = [b for b in upper if b.kind == "text" and _count_letters(b.raw) > 3 and len(b.raw) <= 400]
    titles = [block for block in titles if not STANDARD_HEADING.fullmatch(block.raw.strip())]
    if not titles:
        return
    best = max(titles, key=lambda block: (round(block.first.size), -block.first.y))
    number = read_number(best.raw)
    numbered = number is not None and number.series != "letter"  # "A study of ..." is not an appendix
    others = (block for block in blocks if block is not best and block.first.style == best.first.style)
    if numbered and any(read_number(block.raw) is not None for block in others):
        return  # a heading among others
    # A chapter: this block and at least two others of its style have running text directly below them
    pages = [(a, b) for a, b in pairwise(blocks) if a.first.page == b.first.page and a.first.style == best.first.style]
    chapters = [a for a, b in pages if len(a.lines) <= 2 < len(b.lines) and is_running_text(b, body)]
    if len(chapters) > 2 and chapters[0] is best:
        return
    larger = best.first.size > 1.12 * body.size
    bold_first = best.first.bold and not body.bold and best is blocks[0] and not numbered
    if larger or bold_first:
        best.kind = "title"


def _mark_authors(blocks: list[LayoutBlock]) -> None:
    """Mark the authors between the title and the first heading as text, though they are set like a table."""
    for block in takewhile(lambda block: block.kind != "heading" and block.first.page == 1, blocks):
        parts = [re.split(r" {3,}", line.text) for line in block.lines]
        if block.kind == "table" and len({len(part) for part in parts}) == 1:
            block.kind = "text"
            block.text = "\n".join(" ".join(column) for column in zip(*parts, strict=True))  # one author per line


def _numbered_headings(candidates: list[Candidate], bookmarks: Set[str]) -> list[Candidate]:
    """The candidates whose numbers form a consistent sequence, without those that differ in style from their level."""
    roman = sum(c.number is not None and c.number.series == "roman" and c.distinct for c in candidates) > 1
    top = [
        c for c in candidates if c.distinct and c.apart and (c.before_text if c.number is None else c.number.level == 1)
    ]
    numbers = [c.number.parts[0] if c.number and c.number.series == "arabic" else None for c in top]
    items = {top[place].index for place in nested_items(numbers)}  # bold items of lists that interrupt the numbering
    numbered: list[Candidate] = []
    weights: dict[int, float] = {}  # how much each looks like a heading
    for c in candidates:
        _, bold, upper, italic = c.style
        likely = c.distinct or (c.other_font and c.apart)
        if c.number and c.number.series == "letter" and not roman:
            likely = c.distinct and (bold or upper)  # "A" may also be the article
        if c.number and (c.listed(bookmarks) or (likely and c.index not in items)):
            numbered.append(c)
            inconspicuous = not c.distinct or (italic and not (bold or upper))
            weights[c.index] = (0.5 if inconspicuous else 1.0) * (1.0 if c.apart else 0.6)
    chosen: list[Candidate] = []
    for _ in range(2):
        kept = consistent([c.number for c in numbered if c.number], [weights[c.index] for c in numbered])
        chosen = [c for c, keep in zip(numbered, kept, strict=True) if keep]
        unusual = _unusual_styles(numbered, chosen)
        usual = [c for c in numbered if c.listed(bookmarks) or c.index not in unusual]
        if len(usual) == len(numbered):
            break
        numbered = usual
    return chosen


def _unusual_styles(numbered: list[Candidate], chosen: list[Candidate]) -> set[int]:
    """The indices of those set lighter than the prevailing style of their series and level among the chosen."""
    seen: defaultdict[tuple[str, int], Counter[Style]] = defaultdict(Counter)
    for candidate in chosen:
        if candidate.number:
            seen[candidate.number.series, candidate.number.level][candidate.style] += 1
    unusual: set[int] = set()
    for candidate in numbered:
        counts = seen[candidate.number.series, candidate.number.level] if candidate.number else Counter[Style]()
        if counts.total() < 3:
            continue
        # bold and capitals weigh more
        usual = max(counts, key=lambda style: (counts[style] * (1 + style[1] + style[2] - 0.5 * style[3]), style))
        size, bold, upper, italic = candidate.style
        lighter = size < usual[0] - 0.6 or (usual[1] and not bold) or (usual[2] and not upper and size < usual[0])
        if lighter or (italic and not usual[3]):
            unusual.add(candidate.index)
    return unusual


def _is_heading(
    candidate: Candidate, levels: dict[Style, int], body: Body, bookmarks: Set[str], few_numbered: bool
) -> bool:
    """Whether a candidate is a heading by its wording or style; `few_numbered`: most headings have no number."""
    text = candidate.text
    if candidate.listed(bookmarks):
        return True
    if candidate.standard and (candidate.distinct or (candidate.other_font and candidate.apart)):
        return True
    if not candidate.distinct:
        return False
    if not re.search(r"[^\W\d_]{3}|[\u3400-\u9fff]{2}", text):
        return False  # a formula
    if candidate.before_table or not candidate.apart or text.endswith((".", ":")) or text[:1].islower():
        return False
    if candidate.number is not None and candidate.number.series == "arabic" and not few_numbered:
        return False  # a number out of sequence
    if any(_same_style(candidate.style, style) for style in levels):
        return True
    size, bold, upper, italic = candidate.style
    largest = max((style[0] for style in levels), default=size)
    if levels and size >= max(largest, 1.06 * body.size):
        return True
    if not few_numbered:
        line = candidate.block.first
        at_edge = abs(line.x0 - line.left) < line.size and line.width < 0.8 * (line.right - line.left)
        return bold and candidate.before_text and len(candidate.block.lines) == 1 and at_edge
    return bold or upper or size > 1.06 * body.size or (italic and len(text.split()) <= 12 and text[-1:].isalnum())


def _set_like_others(start: int, candidates: list[Candidate], chosen: list[Candidate]) -> list[Candidate]:
    """Candidates with running text below that are set exactly like headings: titles such as "4-4-0", and the first
    chapter, above the first numbered heading.
    """
    styles, taken = {c.style for c in chosen}, {c.index for c in chosen}
    unnumbered = {c.style for c in chosen if c.number is None and not c.standard and c.before_text}
    above_text = [c for c in candidates if c.before_text]
    wordless = [c for c in above_text if c.apart and c.style in styles and _count_letters(c.text) < 2]
    chapters = [c for c in above_text if c.index < start and not c.standard and c.style in unnumbered]
    return [c for c in wordless if c.index not in taken] + chapters


def _same_style(a: Style, b: Style) -> bool:
    return abs(a[0] - b[0]) <= 0.5 and a[1:] == b[1:] and any(a[1:])


def _level(candidate: Candidate, levels: dict[Style, int], styles: list[Style], roman: bool) -> int:
    number = candidate.number
    if number is not None:
        return number.level + (1 if roman and number.series == "letter" else 0)
    if candidate.standard:
        return 1
    for style, level in levels.items():
        if _same_style(candidate.style, style):
            return level
    if levels:
        return 1 if candidate.style[0] >= max(style[0] for style in levels) else max(levels.values()) + 1
    return styles.index(candidate.style) + 1
