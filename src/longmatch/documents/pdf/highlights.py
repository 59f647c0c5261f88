"""Where a passage stands on a page: the rectangles of its lines."""

import unicodedata
from typing import Any

from pypdfium2 import raw

_SHORTEST = 24  # letters of a part of a passage that is looked for alone

Rectangle = tuple[float, float, float, float]  # left, bottom, right, top, in the page's points


def passage_rectangles(page: Any, passage: str) -> list[Rectangle]:
    """A rectangle per line of the passage; none if it is not found.

    Only letters and digits are compared, so blanks, hyphens and ligatures do not matter. Of a passage that runs on to
    another page or column, the part that stands here together is found.
    """
    textpage = page.get_textpage()
    try:
        letters, places = _letters(textpage)
        found = _find("".join(_plain(character) for character in passage), letters)
        if found is None:
            return []
        first, last = places[found[0]], places[found[1] - 1]
        return [textpage.get_rect(n) for n in range(textpage.count_rects(first, last - first + 1))]
    finally:
        textpage.close()


def _letters(textpage: Any) -> tuple[str, list[int]]:
    """The letters of a page in one string, and the number of the character each belongs to."""
    letters: list[str] = []
    places: list[int] = []
    for number in range(raw.FPDFText_CountChars(textpage)):
        plain = _plain(chr(raw.FPDFText_GetUnicode(textpage, number)))
        letters.append(plain)
        places += [number] * len(plain)
    return "".join(letters), places


def _plain(character: str) -> str:
    return "".join(c for c in unicodedata.normalize("NFKC", character).casefold() if c.isalnum())


def _find(passage: str, page: str) -> tuple[int, int] | None:
    """The first and last letter (exclusive) of the passage, or of the longest beginning or end that is found."""
    size = len(passage)
    while size and (size >= _SHORTEST or size == len(passage)):
        for part in (passage[:size], passage[-size:]):
            if (place := page.find(part)) >= 0:
                return place, place + size
        size = size * 3 // 4
    return None
