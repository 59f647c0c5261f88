"""The fragments of a page read character by character and word by word: what the reader must give, slowly."""

import ctypes
import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pypdfium2 import raw

from longmatch.documents.pdf.fragments import MARK, MARKED_WORD, Fragment, is_prose
from longmatch.documents.pdf.words import HYPHENS, SPELLED_OUT, Font, font_named

WRITTEN, GENERATED, NEITHER = -9.0, 0.03, 0.17


@dataclass(frozen=True)
class Style:
    font: Font
    size: float
    rotation: int


@dataclass
class Word:
    text: str
    x0: float
    x1: float
    y: float
    style: Style
    space: float  # smallest gap before it, in ems, that separates it from the word before


def plain_fragments(textpage: Any) -> list[Fragment]:
    """The fragments of a page, without text rotated differently from most of the page."""
    words = list(words_of(textpage.raw))
    characters = [0, 0, 0, 0]
    for word in words:
        characters[word.style.rotation] += len(word.text)
    rotation = characters.index(max(characters))
    lines: list[list[Word]] = []
    for word in words:
        if word.style.rotation == rotation and word.text:
            if lines and follows(lines[-1], word):
                lines[-1].append(word)
            else:
                lines.append([word])
    return [fragment_of(line) for line in lines]


def words_of(page: Any) -> Iterator[Word]:
    """Split the page's characters at blanks and where the text object changes."""
    styles: dict[int, Style] = {}
    text, first, last, current = "", 0, 0, 0
    is_blank, space, next_space = False, NEITHER, NEITHER
    high = 0  # the first half of a character
    for index in range(raw.FPDFText_CountChars(page)):
        code = raw.FPDFText_GetUnicode(page, index)
        if chr(code) in "\t\n\r \xa0":
            is_blank = True
            is_written = chr(code) in "\t \xa0" and not raw.FPDFText_IsGenerated(page, index)
            next_space = min(next_space, WRITTEN if is_written else GENERATED)
            continue
        if 0xD800 <= code < 0xDC00:
            high = code
            continue
        if 0xDC00 <= code < 0xE000:
            code, high = 0x10000 + ((high - 0xD800) << 10) + (code - 0xDC00) if high else 0, 0
        text_object = raw.FPDFText_GetTextObject(page, index)
        owner = ctypes.cast(text_object, ctypes.c_void_p).value if text_object else None
        if not code or owner is None:
            continue
        if is_blank or owner != current:
            if current:
                yield word_of(page, text, first, last, styles[current], space)
            text, first, current, space = "", index, owner, next_space
            is_blank, next_space = False, NEITHER
            styles.setdefault(owner, style_of(page, index))
        text, last = text + chr(code), index
    if current:
        yield word_of(page, text, first, last, styles[current], space)


def style_of(page: Any, index: int) -> Style:
    matrix, flags, name = raw.FS_MATRIX(), ctypes.c_int(), ctypes.create_string_buffer(128)
    raw.FPDFText_GetMatrix(page, index, matrix)
    raw.FPDFText_GetFontInfo(page, index, name, 128, flags)
    size = abs(raw.FPDFText_GetFontSize(page, index) * math.hypot(matrix.c, matrix.d)) or 1.0
    rotation = round(math.atan2(matrix.b, matrix.a) / (math.pi / 2)) % 4
    weight = raw.FPDFText_GetFontWeight(page, index)
    return Style(font_named(name.value.decode("utf-8", "replace"), flags.value, weight), size, rotation)


def word_of(page: Any, text: str, first: int, last: int, style: Style, space: float) -> Word:
    begin, end, x, y = raw.FS_RECTF(), raw.FS_RECTF(), ctypes.c_double(), ctypes.c_double()
    raw.FPDFText_GetLooseCharBox(page, first, begin)
    raw.FPDFText_GetLooseCharBox(page, last, end)
    raw.FPDFText_GetCharOrigin(page, first, x, y)
    x0 = (begin.left, begin.bottom, -begin.right, -begin.top)[style.rotation]
    x1 = (end.right, end.top, -end.left, -end.bottom)[style.rotation]
    plain = text.translate(SPELLED_OUT | dict.fromkeys(HYPHENS, "-"))
    return Word(plain, x0, x1, (-y.value, x.value, y.value, -x.value)[style.rotation], style, space)


def follows(line: list[Word], word: Word) -> bool:
    last, size = line[-1], word.style.size
    if not -0.5 * last.style.size < word.x0 - last.x1 < min(last.style.size, size):
        return False
    if abs(word.y - last.y) > 0.5 * max(last.style.size, size):
        return False
    anchor = max(line[-4:], key=lambda other: other.style.size)
    return abs(word.y - anchor.y) < 0.6 * max(anchor.style.size, size)


def fragment_of(words: list[Word]) -> Fragment:
    top_size = max(word.style.size for word in words)
    places: Counter[tuple[float, float]] = Counter()
    fonts: Counter[Font] = Counter()
    names: Counter[str] = Counter()
    for word in words:
        places[word.style.size, word.y] += len(word.text)
        fonts[word.style.font] += len(word.text)
        names[word.style.font.name] += len(word.text)
    size, y = max(places, key=lambda place: (places[place], place[0]))
    bold, italic, mono = (
        2 * sum(count for font, count in fonts.items() if getattr(font, trait)) > fonts.total()
        for trait in ("bold", "italic", "mono")
    )
    text, marked = "", False
    for index, word in enumerate(words):
        raised = word.style.size < 0.85 * top_size and word.y < y - 0.15 * top_size and MARK.fullmatch(word.text)
        if raised and MARKED_WORD.search(text[-12:]):
            continue
        if raised and not text:
            marked = True
        before = words[index - 1]
        if text and word.x0 - before.x1 > word.space * min(word.style.size, before.style.size):
            text += " "
        text += word.text
    return Fragment(
        text=text,
        x0=min(word.x0 for word in words),
        x1=max(word.x1 for word in words),
        y=y,
        size=size,
        bold=bold and all(word.style.font.bold for word in words if any(map(str.isalpha, word.text))),
        italic=italic,
        mono=mono,
        font=names.most_common(1)[0][0],
        marked=marked,
        bold_start=words[0].style.font.bold,
        top_size=top_size,
        prose=is_prose(text),
    )
