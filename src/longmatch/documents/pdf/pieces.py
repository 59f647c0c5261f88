"""The pieces of a page: runs of characters on one baseline, as pdfium gives them, with place, size and weight."""

import ctypes
import math
import re
from collections import Counter
from collections.abc import Iterator
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
_MARKED_WORD = re.compile(r"[^\W\d_]{3,}[\])”’\"]?[.,;:!?]?[\])”’\"]?$|[.,;:!?)\]”’\"]$")
_LIGATURES = str.maketrans(
    {"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "st", "ﬆ": "st", "\u00a0": " ", "\u2011": "-"}
    | {"\u0002": "-", "\ufffe": "-", "\u00ad": "-", "\u2010": "-", "\u200b": "", "\ufeff": ""}
)

_SLANTED, _FORCE_BOLD = 1 << 6, 1 << 18  # flags of a font descriptor
_WRITTEN_BLANKS = frozenset((9, 32, 0xA0))
_BLANKS = _WRITTEN_BLANKS | {10, 13}
_REAL, _LIKELY, _UNLIKELY = (
    -9.0,
    0.03,
    0.17,
)  # gap in ems that is a space: where one is written, seen by pdfium, neither
_PROSE_CHARACTERS = 18  # a piece this long is text rather than a cell of a table
_CUT = 1.0  # a gap of this many ems ends a piece


@dataclass(frozen=True, slots=True)
class Font:
    """What a font's name and flags tell."""

    name: str
    bold: bool
    italic: bool
    mono: bool


@dataclass(slots=True)
class Piece:
    """A run of characters on one baseline without a wide gap: a line of a column, or a cell, or less.

    Coordinates are points; y is the baseline and grows downwards, whichever way the page was turned.
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
    marked: bool = False  # begins with a raised mark, as a footnote does
    bold_start: bool = False  # its first word is bold
    top_size: float = 0.0  # of its largest character: small capitals stand beside a large one
    prose: bool = False  # long enough, and of letters enough, to be a line of text

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
    """A word, or a part of one: characters of one text object, hence one font, size and baseline."""

    text: str
    x0: float
    x1: float
    y: float
    size: float
    font: Font
    turn: int  # quarter turns of the writing direction
    space: float  # the gap before it, in ems, from which on it stands apart from the word before


def read_pieces(page: Any) -> list[Piece]:
    """The pieces of a page in the order they were written; text that runs another way than most is left out."""
    textpage = page.get_textpage()
    try:
        runs = list(_runs(textpage.raw))
    finally:
        textpage.close()
    amounts = [0, 0, 0, 0]
    for run in runs:
        amounts[run.turn] += len(run.text)
    turn = amounts.index(max(amounts))
    return list(_pieces([run for run in runs if run.turn == turn]))


# The declared prototype makes a pointer object a call; an address is enough to see whether the text object changed.
_object_of = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int)(
    ctypes.cast(raw.FPDFText_GetTextObject, ctypes.c_void_p).value or 0
)


@dataclass(frozen=True, slots=True)
class _Style:
    """What a text object says about its characters."""

    font: Font
    size: float
    turn: int


def _runs(textpage: Any) -> Iterator[_Run]:
    """Cut the page's characters where a blank stands or the text object changes."""
    address = ctypes.cast(textpage, ctypes.c_void_p).value or 0
    unicode, object_of = raw.FPDFText_GetUnicode, _object_of
    styles: dict[int, _Style] = {}
    text: list[str] = []
    first = last = 0
    current: int | None = None
    blank = False
    space = next_space = _UNLIKELY
    high = 0
    for index in range(raw.FPDFText_CountChars(textpage)):
        code = unicode(textpage, index)
        if code in _BLANKS:
            blank = True
            written = code in _WRITTEN_BLANKS and not raw.FPDFText_IsGenerated(textpage, index)
            next_space = min(next_space, _REAL if written else _LIKELY)
            continue
        if 0xD800 <= code < 0xDC00:
            high = code
            continue
        if 0xDC00 <= code < 0xE000:
            code = 0x10000 + ((high - 0xD800) << 10) + (code - 0xDC00) if high else 0
            high = 0
        found = object_of(address, index)
        if not code or found is None or code > 0x10FFFF:
            continue
        if blank or found != current:
            if text and current is not None:
                yield _run(textpage, "".join(text), (first, last), styles[current], space)
            text, first, current, space = [], index, found, next_space
            blank, next_space = False, _UNLIKELY
            if found not in styles:
                styles[found] = _style(textpage, index)
        text.append(chr(code))
        last = index
    if text and current is not None:
        yield _run(textpage, "".join(text), (first, last), styles[current], space)


def _run(textpage: Any, text: str, span: tuple[int, int], style: _Style, space: float) -> _Run:
    first, last = span
    box, x, y = raw.FS_RECTF(), ctypes.c_double(), ctypes.c_double()
    raw.FPDFText_GetLooseCharBox(textpage, first, box)
    start, _ = _turned(box, style.turn)
    raw.FPDFText_GetLooseCharBox(textpage, last, box)
    _, end = _turned(box, style.turn)
    raw.FPDFText_GetCharOrigin(textpage, first, x, y)
    baseline = (-y.value, x.value, y.value, -x.value)[style.turn]
    return _Run(text.translate(_LIGATURES), start, end, baseline, style.size, style.font, style.turn, space)


def _turned(box: Any, turn: int) -> tuple[float, float]:
    """Where a character's box begins and ends along the writing direction."""
    if turn == 0:
        return box.left, box.right
    if turn == 1:
        return box.bottom, box.top
    return (-box.right, -box.left) if turn == 2 else (-box.top, -box.bottom)


def _style(textpage: Any, index: int) -> _Style:
    matrix = raw.FS_MATRIX()
    raw.FPDFText_GetMatrix(textpage, index, matrix)
    size = raw.FPDFText_GetFontSize(textpage, index) * math.hypot(matrix.c, matrix.d)
    turn = round(math.atan2(matrix.b, matrix.a) / (math.pi / 2)) % 4
    flags, name = ctypes.c_int(), ctypes.create_string_buffer(128)
    raw.FPDFText_GetFontInfo(textpage, index, name, 128, flags)
    weight = raw.FPDFText_GetFontWeight(textpage, index)
    return _Style(_font(name.value.decode("utf-8", "replace"), flags.value, weight), abs(size) or 1.0, turn)


@lru_cache(maxsize=1024)
def _font(name: str, flags: int, weight: int) -> Font:
    family = name.split("+", 1)[-1]
    bold = bool(_BOLD.search(family)) or bool(flags & _FORCE_BOLD)
    if re.fullmatch(
        r"[A-Za-z]{0,4}[\d_]*", family
    ):  # a name that tells nothing, as "F3"; the weight is a guess of pdfium's
        bold = bold or weight >= 700
    return Font(family, bold, bool(_ITALIC.search(family)) or bool(flags & _SLANTED), bool(_MONO.search(family)))


def _pieces(runs: list[_Run]) -> Iterator[Piece]:
    """Join the runs that follow each other on a baseline."""
    open_runs: list[_Run] = []
    for run in runs:
        if not run.text:
            continue
        if open_runs and not _follows(open_runs, run):
            yield _piece(open_runs)
            open_runs = []
        open_runs.append(run)
    if open_runs:
        yield _piece(open_runs)


def _follows(before: list[_Run], run: _Run) -> bool:
    last = before[-1]
    gap = run.x0 - last.x1
    if not -0.5 * last.size < gap < _CUT * min(last.size, run.size):
        return False
    if abs(run.y - last.y) > 0.5 * max(last.size, run.size):
        return False
    anchor = max(before[-4:], key=lambda other: other.size)  # a raised mark, then the line again
    return abs(run.y - anchor.y) < 0.6 * max(anchor.size, run.size)


def _piece(runs: list[_Run]) -> Piece:
    top_size = max(run.size for run in runs)
    amounts: dict[tuple[float, float], int] = {}
    for run in runs:
        key = (run.size, run.y)
        amounts[key] = amounts.get(key, 0) + len(run.text)
    size, y = max(amounts, key=lambda key: (amounts[key], key[0]))
    length = sum(len(run.text) for run in runs)
    bold, italic, mono = (
        2 * sum(len(run.text) for run in runs if getattr(run.font, trait)) > length
        for trait in ("bold", "italic", "mono")
    )
    text, marked = "", False
    for number, run in enumerate(runs):
        gap = run.x0 - runs[number - 1].x1 if number else 0.0
        raised = run.size < 0.85 * top_size and run.y < y - 0.15 * top_size and _MARK.fullmatch(run.text)
        if raised and _MARKED_WORD.search(text[-12:]):
            continue  # the mark of a footnote is no part of the sentence
        if raised and not text:
            marked = True
        if number and text and gap > run.space * min(run.size, runs[number - 1].size):
            text += " "
        text += run.text
    fonts = Counter[str]()
    for run in runs:
        fonts[run.font.name] += len(run.text)
    return Piece(
        text=text,
        x0=min(run.x0 for run in runs),
        x1=max(run.x1 for run in runs),
        y=y,
        size=size,
        bold=bold and all(run.font.bold for run in runs if any(map(str.isalpha, run.text))),
        italic=italic,
        mono=mono,
        font=fonts.most_common(1)[0][0],
        marked=marked,
        bold_start=runs[0].font.bold,
        top_size=top_size,
        prose=_is_prose(text),
    )


def _is_prose(text: str) -> bool:
    letters = sum(map(str.isalpha, text))
    wide = sum(character > "\u2e80" for character in text)  # a Chinese character says as much as two letters
    return len(text) + wide >= _PROSE_CHARACTERS and letters > 0.55 * len(text)
