"""Text fragments of a page: characters on one baseline, as pdfium reports them, with position, size and weight.

The fragments of one column that share a baseline make a line.
"""

import ctypes
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from pypdfium2 import raw

_BOLD = re.compile(
    r"bold|medi(?!um)|black|heavy|demi|[-_,]bd\b|^(?:cm|sf|ec|eu|lm|pl)[a-z]*b[x\d]|^rm-?b", re.IGNORECASE
)
_ITALIC = re.compile(r"ital|obli|slant|-it\b|^cm(?:ti|mi|sl)|^sf(?:ti|sl)", re.IGNORECASE)
_MONO = re.compile(r"mono|courier|consol|typewriter|menlo|^(?:cm|sf|ec)tt|nimbusmon", re.IGNORECASE)
_MARK = re.compile(r"\d{1,2}(?:,\d{1,2})*|[*∗†‡§¶]+")
_MARKED_WORD = re.compile(r"[^\W\d_]{3}[\])”’\"]?[.,;:!?]?[\])”’\"]?$|[.,;:!?)\]”’\"]$")
_LIGATURES = str.maketrans(
    {"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "st", "ﬆ": "st", "\u00a0": " ", "\u2011": "-"}
    | {"\u0002": "-", "\ufffe": "-", "\u00ad": "-", "\u2010": "-", "\u200b": "", "\ufeff": ""}
)

_SLANTED, _FORCE_BOLD = 1 << 6, 1 << 18  # flags of a font descriptor
_WRITTEN_BLANKS = frozenset((9, 32, 0xA0))
_BLANKS = _WRITTEN_BLANKS | {10, 13}
# Smallest gap, in ems, that counts as a space: where one is written, where pdfium generated one, elsewhere
_WRITTEN_SPACE, _GENERATED_SPACE, _NO_SPACE = -9.0, 0.03, 0.17
_MIN_PROSE = 18  # characters: a shorter fragment may be a table cell
_MAX_GAP = 1.0  # ems between the words of a fragment
CAPTION_LABEL = re.compile(
    r"(?:figure|fig\.?|table|tab\.|algorithm|listing|scheme|chart|exhibit|plate|abbildung|abb\.|tabelle|tableau|figura|tabla)"
    r"\s*(?:[A-Z][.-]?)?(?:\d+|[IVXL]+\b)(?:[.-]\d+)*[a-z]?(?P<after>\s*[:.|–—-]|\s*\(|\s*$|\s+)|[图表図圖]\s*\d+(?P<zh>[.:：\s-]|$)",
    re.IGNORECASE,
)
"""How a line that opens a caption begins; so may a sentence about the figure."""
_CELL_GAP = 1.05  # ems between two cells
_LETTER_SPACED = re.compile(r"(?:\w ){4,}\w(?=\W|$)")


@dataclass(frozen=True, slots=True)
class Font:
    """A font's name, and the traits its name and flags imply."""

    name: str
    bold: bool
    italic: bool
    mono: bool


@dataclass(slots=True)
class Fragment:
    """Characters on one baseline without a wide gap: a line of a column, a table cell, or less.

    Coordinates are in points; y is the baseline and grows downwards, however the page is rotated.
    """

    text: str
    x0: float
    x1: float
    y: float
    size: float
    bold: bool = False
    italic: bool = False
    mono: bool = False
    font: str = ""
    marked: bool = False  # begins with a superscript mark, like a footnote
    bold_start: bool = False  # its first word is bold
    top_size: float = 0.0  # of its largest character: small capitals follow a larger one
    prose: bool = False  # has enough characters and letters to be a line of text

    @property
    def top(self) -> float:
        """The upper edge of its letters."""
        return self.y - 0.75 * self.size

    @property
    def bottom(self) -> float:
        """The lower edge of its letters."""
        return self.y + 0.25 * self.size

    @property
    def width(self) -> float:
        """From its left to its right edge."""
        return self.x1 - self.x0


@dataclass(slots=True)
class _Run:
    """A word or part of one: characters of one text object, hence of one font, size and baseline."""

    text: str
    x0: float
    x1: float
    y: float
    size: float
    font: Font
    rotation: int  # of the writing direction, in quarter turns
    space: float  # smallest gap before it, in ems, that separates it from the previous word


def read_fragments(page: Any) -> list[Fragment]:
    """The fragments of a page in drawing order, without text rotated differently from most of the page."""
    with closing(page.get_textpage()) as textpage:
        runs = list(_runs(textpage.raw))
    characters = [0, 0, 0, 0]  # per rotation
    for run in runs:
        characters[run.rotation] += len(run.text)
    rotation = characters.index(max(characters))
    joined: list[list[_Run]] = []  # consecutive runs on one baseline
    for run in runs:
        if run.rotation != rotation or not run.text:
            continue
        if joined and _follows(joined[-1], run):
            joined[-1].append(run)
        else:
            joined.append([run])
    return [_fragment(group) for group in joined]


# The declared prototype creates a pointer object per call; an address suffices to see that the text object changed.
_text_object = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int)(
    ctypes.cast(raw.FPDFText_GetTextObject, ctypes.c_void_p).value or 0
)


@dataclass(frozen=True, slots=True)
class _Style:
    """Font, size and rotation of a text object's characters."""

    font: Font
    size: float
    rotation: int


def _runs(textpage: Any) -> Iterator[_Run]:
    """Split the page's characters at blanks and where the text object changes."""
    address = ctypes.cast(textpage, ctypes.c_void_p).value or 0
    unicode, text_object = raw.FPDFText_GetUnicode, _text_object
    styles: dict[int, _Style] = {}
    text: list[str] = []
    first = last = 0
    current: int | None = None
    blank = False
    space = next_space = _NO_SPACE
    high_surrogate = 0
    for index in range(raw.FPDFText_CountChars(textpage)):
        code = unicode(textpage, index)
        if code in _BLANKS:
            blank = True
            written = code in _WRITTEN_BLANKS and not raw.FPDFText_IsGenerated(textpage, index)
            next_space = min(next_space, _WRITTEN_SPACE if written else _GENERATED_SPACE)
            continue
        if 0xD800 <= code < 0xDC00:
            high_surrogate = code
            continue
        if 0xDC00 <= code < 0xE000:
            code = 0x10000 + ((high_surrogate - 0xD800) << 10) + (code - 0xDC00) if high_surrogate else 0
            high_surrogate = 0
        owner = text_object(address, index)
        if not code or owner is None or code > 0x10FFFF:
            continue
        if blank or owner != current:
            if text and current is not None:
                yield _run(textpage, "".join(text), first, last, styles[current], space)
            text, first, current, space = [], index, owner, next_space
            blank, next_space = False, _NO_SPACE
            if owner not in styles:
                matrix, flags, name = raw.FS_MATRIX(), ctypes.c_int(), ctypes.create_string_buffer(128)
                raw.FPDFText_GetMatrix(textpage, index, matrix)
                size = abs(raw.FPDFText_GetFontSize(textpage, index) * math.hypot(matrix.c, matrix.d)) or 1.0
                rotation = round(math.atan2(matrix.b, matrix.a) / (math.pi / 2)) % 4
                raw.FPDFText_GetFontInfo(textpage, index, name, 128, flags)
                weight = raw.FPDFText_GetFontWeight(textpage, index)
                font = _font(name.value.decode("utf-8", "replace"), flags.value, weight)
                styles[owner] = _Style(font, size, rotation)
        text.append(chr(code))
        last = index
    if text and current is not None:
        yield _run(textpage, "".join(text), first, last, styles[current], space)


def _run(textpage: Any, text: str, first: int, last: int, style: _Style, space: float) -> _Run:
    """The characters `first` to `last` of a page, whose text is given."""
    box, x, y = raw.FS_RECTF(), ctypes.c_double(), ctypes.c_double()
    raw.FPDFText_GetLooseCharBox(textpage, first, box)
    start, _ = _extent(box, style.rotation)
    raw.FPDFText_GetLooseCharBox(textpage, last, box)
    _, end = _extent(box, style.rotation)
    raw.FPDFText_GetCharOrigin(textpage, first, x, y)
    baseline = (-y.value, x.value, y.value, -x.value)[style.rotation]
    return _Run(text.translate(_LIGATURES), start, end, baseline, style.size, style.font, style.rotation, space)


def _extent(box: Any, rotation: int) -> tuple[float, float]:
    """Start and end of a character's box along the writing direction."""
    if rotation == 0:
        return box.left, box.right
    if rotation == 1:
        return box.bottom, box.top
    return (-box.right, -box.left) if rotation == 2 else (-box.top, -box.bottom)


@lru_cache(maxsize=1024)
def _font(name: str, flags: int, weight: int) -> Font:
    family = name.split("+", 1)[-1]
    bold = bool(_BOLD.search(family)) or bool(flags & _FORCE_BOLD)
    if re.fullmatch(r"[A-Za-z]{0,4}[\d_]*", family):  # a meaningless name such as "F3": use the weight pdfium guesses
        bold = bold or weight >= 700
    return Font(family, bold, bool(_ITALIC.search(family)) or bool(flags & _SLANTED), bool(_MONO.search(family)))


def _follows(before: list[_Run], run: _Run) -> bool:
    last = before[-1]
    gap = run.x0 - last.x1
    if not -0.5 * last.size < gap < _MAX_GAP * min(last.size, run.size):
        return False
    if abs(run.y - last.y) > 0.5 * max(last.size, run.size):
        return False
    anchor = max(before[-4:], key=lambda other: other.size)  # the line may resume after a superscript
    return abs(run.y - anchor.y) < 0.6 * max(anchor.size, run.size)


def _fragment(runs: list[_Run]) -> Fragment:
    """One fragment of consecutive runs, in the style of most of its characters."""
    top_size = max(run.size for run in runs)
    characters: Counter[tuple[float, float]] = Counter()  # per size and baseline
    fonts: Counter[Font] = Counter()
    names: Counter[str] = Counter()
    for run in runs:
        characters[run.size, run.y] += len(run.text)
        fonts[run.font] += len(run.text)
        names[run.font.name] += len(run.text)
    size, y = max(characters, key=lambda key: (characters[key], key[0]))
    bold, italic, mono = (
        2 * sum(count for font, count in fonts.items() if getattr(font, trait)) > fonts.total()
        for trait in ("bold", "italic", "mono")
    )
    text, marked = "", False
    for index, run in enumerate(runs):
        gap = run.x0 - runs[index - 1].x1 if index else 0.0
        superscript = run.size < 0.85 * top_size and run.y < y - 0.15 * top_size and _MARK.fullmatch(run.text)
        if superscript and _MARKED_WORD.search(text[-12:]):
            continue  # a footnote mark is not part of the sentence
        if superscript and not text:
            marked = True
        if index and text and gap > run.space * min(run.size, runs[index - 1].size):
            text += " "
        text += run.text
    return Fragment(
        text=text,
        x0=min(run.x0 for run in runs),
        x1=max(run.x1 for run in runs),
        y=y,
        size=size,
        bold=bold and all(run.font.bold for run in runs if any(map(str.isalpha, run.text))),
        italic=italic,
        mono=mono,
        font=names.most_common(1)[0][0],
        marked=marked,
        bold_start=runs[0].font.bold,
        top_size=top_size,
        prose=is_prose(text),
    )


def is_prose(text: str) -> bool:
    """Whether a fragment has enough characters and letters to be a line of text."""
    letters = sum(map(str.isalpha, text))
    wide = sum(character > "\u2e80" for character in text)  # a Chinese character counts as two letters
    return len(text) + wide >= _MIN_PROSE and letters > 0.55 * len(text)


def usual_size(fragments: Iterable[Fragment]) -> float:
    """The size of most characters; 0 if there are none."""
    sizes: Counter[float] = Counter()
    for fragment in fragments:
        sizes[round(fragment.size, 1)] += len(fragment.text)
    return sizes.most_common(1)[0][0] if sizes else 0.0


@dataclass(slots=True)
class Line(Fragment):
    """The text of a row in a column. `cells` counts the stretches of text separated by wide gaps."""

    cells: int = 1
    page: int = 0  # from 1
    column: int = 0  # number of its column in the document
    left: float = 0.0  # the column's edges
    right: float = 0.0

    @property
    def upper(self) -> bool:
        """Whether it is in capitals or small capitals."""
        return self.text.isupper() and sum(map(str.isalpha, self.text)) > 2

    @property
    def style(self) -> tuple[float, bool, bool, bool]:
        """Size, bold, capitals, italic: what distinguishes the headings of one level from those of another."""
        return (round(2 * self.size) / 2, self.bold, self.upper, self.italic)


def rows_of(fragments: Iterable[Fragment]) -> list[list[Fragment]]:
    """Group fragments by baseline, top to bottom, each row left to right."""
    rows: list[list[Fragment]] = []  # the widest fragment of a row comes first
    for fragment in sorted(fragments, key=lambda fragment: fragment.y):
        for row in reversed(rows[-3:]):
            overlap = min(row[0].bottom, fragment.bottom) - max(row[0].top, fragment.top)
            if overlap > 0.55 * min(row[0].size, fragment.size):
                row.append(fragment)
                if fragment.width > row[0].width:
                    row[0], row[-1] = row[-1], row[0]
                break
        else:
            rows.append([fragment])
    rows.sort(key=lambda row: row[0].y)
    merged: list[list[Fragment]] = []
    for index, row in enumerate(rows):
        # Tiny rows, such as the limits of a sum, belong to the neighbouring line that has a gap for them
        tiny = sum(len(fragment.text) for fragment in row) <= 4 and not all(f.text.isdigit() for f in row)
        neighbours = [*rows[index + 1 : index + 3], *merged[-2:]] if tiny else []
        target = next((other for other in neighbours if all(_fits(fragment, other) for fragment in row)), None)
        if target is None:
            merged.append(row)
        else:
            target.extend(row)
    return [sorted(row, key=lambda fragment: fragment.x0) for row in merged]


def _fits(limit: Fragment, row: list[Fragment]) -> bool:
    main = row[0]
    left, right = min(fragment.x0 for fragment in row), max(fragment.x1 for fragment in row)
    near = max(main.top, limit.top) < min(main.bottom, limit.bottom) + 0.1 * limit.size
    inside = left - 2 * limit.size < limit.x0 < right + limit.size
    free = all(min(limit.x1, fragment.x1) - max(limit.x0, fragment.x0) < 0.2 * limit.size for fragment in row)
    return len(main.text) > 15 and near and inside and free


def make_line(row: list[Fragment], page: int) -> Line:
    """Make a line from the fragments of a row."""
    text, cells, end = row[0].text, 1, row[0].x1
    for fragment in row[1:]:
        gap = fragment.x0 - end
        size = max(fragment.size, row[0].size)
        if gap > _CELL_GAP * size:
            cells += 1
        text += ("   " if gap > _CELL_GAP * size else " " if gap > 0.11 * size else "") + fragment.text
        end = max(end, fragment.x1)
    if _LETTER_SPACED.match(text):  # A B S T R A C T
        text = _LETTER_SPACED.sub(lambda match: match[0].replace(" ", ""), text)
    longest = max(row, key=lambda fragment: len(fragment.text))
    upper = text.isupper() and len(text) > 2
    size = max(fragment.top_size for fragment in row) if upper else longest.size
    words = [fragment for fragment in row if any(map(str.isalpha, fragment.text))] or row
    bold, italic, mono = (all(getattr(fragment, trait) for fragment in words) for trait in ("bold", "italic", "mono"))
    x1, marks = max(fragment.x1 for fragment in row), {"marked": row[0].marked, "bold_start": row[0].bold_start}
    style: dict[str, Any] = {"bold": bold, "italic": italic, "mono": mono, "font": longest.font, **marks}
    return Line(text, row[0].x0, x1, longest.y, size, **style, cells=cells, page=page)
