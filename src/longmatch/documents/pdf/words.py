"""The words of a page as pdfium reports them: text, position, size and font, a column of numbers each."""

import ctypes
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import repeat
from typing import Any

import numpy as np
import numpy.typing as npt
from pypdfium2 import raw

_BOLD = re.compile(
    r"bold|medi(?!um)|black|heavy|demi|[-_,]bd\b|^(?:cm|sf|ec|eu|lm|pl)[a-z]*b[x\d]|^rm-?b", re.IGNORECASE
)
_ITALIC = re.compile(r"ital|obli|slant|-it\b|^cm(?:ti|mi|sl)|^sf(?:ti|sl)", re.IGNORECASE)
_MONO = re.compile(r"mono|courier|consol|typewriter|menlo|^(?:cm|sf|ec)tt|nimbusmon", re.IGNORECASE)
_SLANTED, _FORCE_BOLD = 1 << 6, 1 << 18  # flags of a font descriptor

HYPHENS = (0x2, 0xAD, 0x2010, 0x2011, 0xFFFE)
_LIGATURES = {0xFB00: "ff", 0xFB01: "fi", 0xFB02: "fl", 0xFB03: "ffi", 0xFB04: "ffl", 0xFB05: "st", 0xFB06: "st"}
SPELLED_OUT = _LIGATURES | {0x200B: "", 0xFEFF: ""}
_WRITTEN_BLANKS = (9, 32, 0xA0)
_BLANKS = (*_WRITTEN_BLANKS, 10, 13)
_UNNAMED = 0xFFFE  # stands in the text of a page for a hyphen at the end of a line, and for an unknown character
_RIGHT_TO_LEFT = ((0x590, 0x900), (0xFB1D, 0xFE00), (0xFE70, 0xFF00))
# Smallest gap, in ems, that counts as a space: where one is written, where pdfium generated one, elsewhere
_WRITTEN_SPACE, _GENERATED_SPACE, _NO_SPACE = -9.0, 0.03, 0.17
_STRIDE = 16  # characters between those whose text objects are looked up first

Codes = npt.NDArray[np.uint32]
Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Font:
    """A font's name, and the traits its name and flags imply."""

    name: str
    bold: bool
    italic: bool
    mono: bool


@dataclass(frozen=True)
class Words:
    """The words of a page in drawing order, or parts of words: each of one text object, hence of one font and size.

    Coordinates are in points; y is the baseline and grows downwards, however the page is rotated. Words that are
    rotated differently from most of the page are left out.
    """

    codes: Codes  # the code points of all words, one word after the other
    offsets: Ints  # (words + 1,) word i is codes[offsets[i]:offsets[i + 1]]
    x0: Floats
    x1: Floats
    y: Floats
    size: Floats
    font: Ints  # among the fonts
    fonts: Sequence[Font]
    spaced: Bools  # whether a space separates it from the word before it, if both are in one line

    def __len__(self) -> int:
        return len(self.font)

    def text(self, word: int) -> str:
        """The text of a word."""
        return self.codes[self.offsets[word] : self.offsets[word + 1]].tobytes().decode("utf-32-le")


def _undeclared(function: Any, result: Any, *arguments: Any) -> Any:
    """A function of pdfium; by default without types of arguments: to check them takes longer than to run it."""
    return ctypes.PYFUNCTYPE(result, *arguments)(ctypes.cast(function, ctypes.c_void_p).value or 0)


_unicode = _undeclared(raw.FPDFText_GetUnicode, ctypes.c_uint)
_is_generated = _undeclared(raw.FPDFText_IsGenerated, ctypes.c_int)
_text_object = _undeclared(raw.FPDFText_GetTextObject, ctypes.c_size_t)
_font_of = _undeclared(raw.FPDFTextObj_GetFont, ctypes.c_size_t, ctypes.c_void_p)
_font_size = _undeclared(raw.FPDFText_GetFontSize, ctypes.c_double)
_matrix = _undeclared(raw.FPDFText_GetMatrix, ctypes.c_int)
_box = _undeclared(raw.FPDFText_GetLooseCharBox, ctypes.c_int)
_origin = _undeclared(raw.FPDFText_GetCharOrigin, ctypes.c_int)


def read_words(textpage: Any) -> Words | None:
    """The words of a page; None if it has none."""
    page = textpage.raw
    codes = _codes(textpage)
    blank = np.isin(codes, _BLANKS)
    places = np.flatnonzero(~blank & (codes > 0) & (codes <= 0x10FFFF))
    owners = _text_objects(page, places, codes[places])
    places, owners = places[owners > 0], owners[owners > 0]
    if not len(places):
        return None
    after_blank = np.diff(np.cumsum(blank)[places], prepend=0) > 0
    starts = np.flatnonzero(after_blank | (np.diff(owners, prepend=0) != 0))
    first, last = places[starts], places[np.append(starts[1:], len(places)) - 1]
    letters, lengths = _spelled_out(codes[places], starts)
    size, rotation, font, fonts = _styles(page, owners[starts], first)
    usual = int(np.argmax(np.bincount(rotation, lengths)))
    is_kept = (rotation == usual) & (lengths > 0)
    letters, starts, lengths = letters[np.repeat(is_kept, lengths)], starts[is_kept], lengths[is_kept]
    if not len(starts):
        return None
    x0, x1, y = _positions(page, first[is_kept], last[is_kept], usual)
    size, follows_blank = size[is_kept], after_blank[starts]
    gap, em = x0[1:] - x1[:-1], np.minimum(size[1:], size[:-1])
    spaced = np.append(False, gap > np.where(follows_blank[1:], _GENERATED_SPACE, _NO_SPACE) * em)
    may_be_written = follows_blank & ~spaced & np.append(False, gap > _WRITTEN_SPACE * em)
    for word in np.flatnonzero(may_be_written).tolist():
        between = range(places[starts[word] - 1] + 1, places[starts[word]])
        spaced[word] = any(codes[place] in _WRITTEN_BLANKS and not _is_generated(page, place) for place in between)
    return Words(letters, np.append(0, lengths.cumsum()), x0, x1, y, size, font[is_kept], fonts, spaced)


def _codes(textpage: Any) -> Ints:
    """The code point of each character of a page, 0 where there is none."""
    page, text, count = textpage.raw, textpage.get_text_range(), textpage.count_chars()
    if len(text) == count:
        codes = np.frombuffer(text.encode("utf-32-le"), np.uint32).astype(np.int64)
        for place in np.flatnonzero(codes == _UNNAMED).tolist():
            codes[place] = _unicode(page, place)
        return codes
    codes = np.fromiter(map(_unicode, repeat(page), range(count)), np.int64, count)  # the text lacks some
    high = 0
    for place in np.flatnonzero(codes >> 11 == 0xD800 >> 11).tolist():  # the halves of a character, on Windows
        code = int(codes[place])
        if code < 0xDC00:
            high, codes[place] = code, 0
        else:
            high, codes[place] = 0, 0x10000 + ((high - 0xD800) << 10) + (code - 0xDC00) if high else 0
    return codes


def _text_objects(page: Any, places: Ints, codes: Ints) -> Ints:
    """The address of the text object of each of some characters, 0 for none.

    The characters of a text object stand together, except where some are written from right to left. So where two
    characters have the same object, so have all between them.
    """
    count = len(places)
    objects, is_known = np.zeros(count, dtype=np.int64), np.zeros(count, dtype=np.bool_)
    mixed = any(((codes >= start) & (codes < end)).any() for start, end in _RIGHT_TO_LEFT)
    asked = np.append(np.arange(0, count - 1, 1 if mixed else _STRIDE), count - 1) if count else places
    left, right = asked[:-1], asked[1:]
    while len(asked):
        found = map(_text_object, repeat(page), places[asked].tolist())
        objects[asked], is_known[asked] = np.fromiter(found, np.int64, len(asked)), True
        differ = (objects[left] != objects[right]) & (right - left > 1)
        left, right = left[differ], right[differ]
        asked = (left + right) // 2
        left, right = np.append(left, asked), np.append(asked, right)
    return objects[np.maximum.accumulate(np.where(is_known, np.arange(count), 0))]


def _spelled_out(codes: Ints, starts: Ints) -> tuple[Codes, Ints]:
    """The code points of all words without ligatures, and how many each word has."""
    plain = np.where(np.isin(codes, HYPHENS), ord("-"), codes).astype(np.uint32)
    lengths = np.ones(len(codes), dtype=np.int64)
    odd = np.flatnonzero(np.isin(codes, list(SPELLED_OUT)))
    if len(odd):
        lengths[odd] = [len(SPELLED_OUT[code]) for code in codes[odd].tolist()]
        text = plain.tobytes().decode("utf-32-le").translate(SPELLED_OUT)
        plain = np.frombuffer(text.encode("utf-32-le"), np.uint32)
    return plain, np.add.reduceat(lengths, starts)


def _styles(page: Any, owners: Ints, first: Ints) -> tuple[Floats, Ints, Ints, list[Font]]:
    """Size, rotation and font of words, given their text objects and first characters; and the fonts."""
    is_new = np.diff(owners, prepend=0) != 0
    example, which = np.flatnonzero(is_new), np.cumsum(is_new) - 1  # a word of each text object
    places, matrices = first[example], np.zeros((len(example), 6), dtype=np.float32)
    _fill(matrices, _matrix, page, places)
    sizes = map(_font_size, repeat(page), places.tolist())
    size, rotation = np.array(list(map(_size_and_rotation, *matrices.T[:4].tolist(), sizes))).T
    addresses = np.fromiter(map(_font_of, owners[example].tolist()), np.int64, len(example))
    _, font_example, font = np.unique(addresses, return_index=True, return_inverse=True)
    fonts = [_font(page, place) for place in places[font_example].tolist()]
    return size[which], rotation[which].astype(np.int64), font[which], fonts


@lru_cache(maxsize=1024)
def _size_and_rotation(a: float, b: float, c: float, d: float, size: float) -> tuple[float, int]:
    """Size in points, and rotation in quarter turns, of text with a matrix and a nominal size."""
    return abs(size * math.hypot(c, d)) or 1.0, round(math.atan2(b, a) / (math.pi / 2)) % 4


def _font(page: Any, place: int) -> Font:
    """The font of a character."""
    flags, name = ctypes.c_int(), ctypes.create_string_buffer(128)
    raw.FPDFText_GetFontInfo(page, place, name, 128, flags)
    return font_named(name.value.decode("utf-8", "replace"), flags.value, raw.FPDFText_GetFontWeight(page, place))


@lru_cache(maxsize=1024)
def font_named(name: str, flags: int, weight: int) -> Font:
    """The font of this name, with the flags of its descriptor and the weight that pdfium guesses."""
    family = name.split("+", 1)[-1]
    bold = bool(_BOLD.search(family)) or bool(flags & _FORCE_BOLD)
    if re.fullmatch(r"[A-Za-z]{0,4}[\d_]*", family):  # a meaningless name such as "F3": use the weight
        bold = bold or weight >= 700
    return Font(family, bold, bool(_ITALIC.search(family)) or bool(flags & _SLANTED), bool(_MONO.search(family)))


def _positions(page: Any, first: Ints, last: Ints, rotation: int) -> tuple[Floats, Floats, Floats]:
    """Where words begin and end along the direction of writing, and their baselines."""
    begin, end, along, down = ((0, 2, 1, -1), (3, 1, 1, 1), (2, 0, -1, 1), (1, 3, -1, -1))[rotation]
    boxes, origins = np.zeros((2, len(first), 4), dtype=np.float32), np.zeros((len(first), 2))
    _fill(boxes[0], _box, page, first)  # left, top, right, bottom
    _fill(boxes[1], _box, page, last)
    _fill(origins, _origin, page, first, pointers=2)
    return (
        along * boxes[0, :, begin].astype(float),
        along * boxes[1, :, end].astype(float),
        down * origins[:, 1 - rotation % 2],
    )


def _fill(rows: npt.NDArray[Any], function: Any, page: Any, places: Ints, pointers: int = 1) -> None:
    """Have a function of pdfium write a row for each of some characters, through one pointer to it or one a column."""
    memory = (ctypes.c_char * rows.nbytes).from_buffer(rows.data)
    starts = [
        map(ctypes.byref, repeat(memory), range(column * rows.itemsize, rows.nbytes, rows.strides[0]))
        for column in range(pointers)
    ]
    for _ in map(function, repeat(page), places.tolist(), *starts):
        pass
