"""Text fragments of a page: words on one baseline without a wide gap, with position, size and weight."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from longmatch.documents.pdf.words import Bools, Floats, Ints, Words, read_words

MARK = re.compile(r"\d{1,2}(?:,\d{1,2})*|[*∗†‡§¶]+")
MARKED_WORD = re.compile(r"[^\W\d_]{3}[\])”’\"]?[.,;:!?]?[\])”’\"]?$|[.,;:!?)\]”’\"]$")
_MIN_PROSE = 18  # characters: a shorter fragment may be a table cell
_MAX_GAP = 1.0  # ems between the words of a fragment
_NEAR = 4  # words before another among which the line's size is looked up: it may resume after a superscript
_FIRST_WIDE = 0x2E81  # a Chinese character counts as two letters


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


def read_fragments(textpage: Any) -> list[Fragment]:
    """The fragments of a page in drawing order, without text rotated differently from most of the page."""
    words = read_words(textpage)
    return [] if words is None else _fragments(words, _first_words(words))


def _first_words(words: Words) -> Ints:
    """The first word of each fragment."""
    gap, step = words.x0[1:] - words.x1[:-1], np.abs(np.diff(words.y))
    before, after = words.size[:-1], words.size[1:]
    follows = (-0.5 * before < gap) & (gap < _MAX_GAP * np.minimum(before, after))
    follows &= ~(step > 0.5 * np.maximum(before, after))
    is_first = np.append(True, ~follows)
    first = np.maximum.accumulate(np.where(is_first, np.arange(len(words)), 0))
    # A word also has to be level with the largest word shortly before it; where all are level, so is that
    doubtful = np.zeros(len(words), dtype=np.bool_)
    for steps in range(1, min(_NEAR, len(words) - 1) + 1):
        level = _level(words.y[steps:], words.size[steps:], words.y[:-steps], words.size[:-steps])
        doubtful[steps:] |= ~level & (np.arange(len(words) - steps) >= first[steps:])
    start = 0
    for word in np.flatnonzero(doubtful & ~is_first).tolist():
        start = max(start, first[word])
        nearest = max(start, word - _NEAR)
        anchor = nearest + int(np.argmax(words.size[nearest:word]))
        if not _level(words.y[word], words.size[word], words.y[anchor], words.size[anchor]):
            is_first[word], start = True, word
    return np.flatnonzero(is_first)


def _level(y: Any, size: Any, other_y: Any, other_size: Any) -> Any:
    """Whether words are level enough with others to share a line."""
    return np.abs(y - other_y) < 0.6 * np.maximum(size, other_size)


def _fragments(words: Words, first: Ints) -> list[Fragment]:
    """The fragments whose first words are given, each in the style of most of its characters."""
    which = np.repeat(np.arange(len(first)), np.diff(first, append=len(words)))  # the fragment of each word
    lengths = np.diff(words.offsets)
    counts = np.add.reduceat(lengths, first)
    top_size = np.maximum.reduceat(words.size, first)
    size, y = _usual_height(words, lengths, first, which)
    is_mark = (words.size < 0.85 * top_size[which]) & (words.y < y[which] - 0.15 * top_size[which])
    marked, dropped = _marks(words, first, which, np.flatnonzero(is_mark))
    letters = np.add.reduceat(np.strings.isalpha(words.codes.view("U1")), words.offsets[:-1], dtype=np.int64)
    traits = np.array([(font.bold, font.italic, font.mono) for font in words.fonts])[words.font]  # (words, 3)
    bold, italic, mono = (2 * np.add.reduceat(lengths[:, None] * traits, first) > counts[:, None]).T
    bold &= ~np.logical_or.reduceat(~traits[:, 0] & (letters > 0), first)
    texts, sizes = _texts(words, lengths, first, dropped)
    wide = np.add.reduceat(words.codes >= _FIRST_WIDE, words.offsets[:-1][first], dtype=np.int64)
    prose = (sizes + wide >= _MIN_PROSE) & (np.add.reduceat(letters, first) > 0.55 * sizes)
    x0, x1 = np.minimum.reduceat(words.x0, first), np.maximum.reduceat(words.x1, first)
    font = _usual_font(words, lengths, first, which)
    columns = (x0, x1, y, size, bold, italic, mono, font, marked, traits[first, 0], top_size, prose)
    return list(map(Fragment, texts, *(column.tolist() for column in columns)))


def _usual_height(words: Words, lengths: Ints, first: Ints, which: Ints) -> tuple[Floats, Floats]:
    """Of each fragment, the size and baseline of most characters; of the larger ones, where two have as many."""
    size, y = words.size[first], words.y[first]
    mixed = (words.size != size[which]) | (words.y != y[which])
    for fragment, part in _parts(mixed, first, which):
        counts: dict[tuple[float, float], int] = defaultdict(int)
        for *place, length in zip(*(column[part].tolist() for column in (words.size, words.y, lengths)), strict=True):
            counts[*place] += length
        size[fragment], y[fragment] = max(counts, key=lambda place: (counts[place], place[0]))
    return size, y


def _usual_font(words: Words, lengths: Ints, first: Ints, which: Ints) -> npt.NDArray[np.object_]:
    """Of each fragment, the name of the font of most characters."""
    names = np.array([font.name for font in words.fonts], dtype=np.object_)
    usual = names[words.font[first]]
    for fragment, part in _parts(words.font != words.font[first][which], first, which):
        counts: dict[str, int] = defaultdict(int)
        for name, length in zip(names[words.font[part]], lengths[part].tolist(), strict=True):
            counts[name] += length
        usual[fragment] = max(counts, key=counts.__getitem__)
    return usual


def _parts(words_that_differ: Bools, first: Ints, which: Ints) -> Iterator[tuple[int, slice]]:
    """The fragments with words that differ from the first, each with all its words."""
    ends = np.append(first[1:], len(which))
    for fragment in np.unique(which[words_that_differ]).tolist():
        yield fragment, slice(first[fragment], ends[fragment])


def _marks(words: Words, first: Ints, which: Ints, raised: Ints) -> tuple[Bools, Bools]:
    """Which fragments begin with a mark, and which words are footnote marks: no part of the sentence they stand in.

    `raised` are the small words above the baseline.
    """
    marked, dropped = np.zeros(len(first), dtype=np.bool_), np.zeros(len(words), dtype=np.bool_)
    for word in raised.tolist():
        if not MARK.fullmatch(words.text(word)):
            continue
        fragment, begin = int(which[word]), int(first[which[word]])
        if word == begin:
            marked[fragment] = True
            continue
        before = (" " * bool(words.spaced[n]) + words.text(n) for n in range(begin, word) if not dropped[n])
        dropped[word] = MARKED_WORD.search("".join(before)[-12:]) is not None
    return marked, dropped


def _texts(words: Words, lengths: Ints, first: Ints, dropped: Bools) -> tuple[list[str], Ints]:
    """The text of each fragment, and its length."""
    spaced = words.spaced & ~dropped
    spaced[first] = False
    lengths = np.where(dropped, 0, lengths)
    codes = words.codes[np.repeat(~dropped, np.diff(words.offsets))]
    codes = np.insert(codes, (lengths.cumsum() - lengths)[spaced], ord(" "))
    sizes = np.add.reduceat(lengths + spaced, first)
    text = codes.tobytes().decode("utf-32-le")
    return [text[begin:end] for begin, end in pairwise([0, *sizes.cumsum().tolist()])], sizes


def is_prose(text: str) -> bool:
    """Whether a fragment has enough characters and letters to be a line of text."""
    letters = sum(map(str.isalpha, text))
    wide = sum(ord(character) >= _FIRST_WIDE for character in text)
    return len(text) + wide >= _MIN_PROSE and letters > 0.55 * len(text)


def usual_size(fragments: Iterable[Fragment]) -> float:
    """The size of most characters; 0 if there are none."""
    sizes: Counter[float] = Counter()
    for fragment in fragments:
        sizes[round(fragment.size, 1)] += len(fragment.text)
    return sizes.most_common(1)[0][0] if sizes else 0.0
