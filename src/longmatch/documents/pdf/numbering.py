"""Numbers of headings: reading them, and telling those that count through the document from chance ones."""

import re
from dataclasses import dataclass
from typing import Literal

Series = Literal["arabic", "letter", "roman", "named"]

_ARABIC = re.compile(r"(\d{1,3}(?:\s?\.\s?\d{1,3}){0,4})\s*[.):]?\s+(?=[^\W\d_]|[\"“'‘(\d])")
_TIGHT = re.compile(
    r"(\d{1,2}(?:\.\d{1,2}){0,4})\.?(?=[^\W\d_]{2})|(\d{1,2}(?:\.\d{1,2}){0,4})[.．、]?\s*(?=[\u3400-\u9fff])"
)
_LETTER = re.compile(r"([A-Z](?:\.\d{1,2}){0,3})\s*[.:)]?\s+(?=[^\W\d_a-z]|[a-z]{3})")
_ROMAN = re.compile(r"([IVX]{1,6})\s*[.:)–—-]\s*(?=[^\W\d_])")
_NAMED = re.compile(
    r"(?:appendix|appendices|annex|chapter|section|part|article|schedule|anhang|kapitel|abschnitt|annexe|chapitre)"
    r"\s+([A-Z]|\d{1,3}|[IVXLC]{1,6})\b\s*[.:)–—-]?|(第[一二三四五六七八九十百零\d]{1,5}[章节節條条部编篇])|([一二三四五六七八九十]{1,3})、",
    re.IGNORECASE,
)
_ROMAN_VALUES = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100}


@dataclass(frozen=True)
class Number:
    """A heading's number: which series it counts in, and its parts."""

    series: Series
    parts: tuple[int, ...]
    length: int  # characters of the text it takes

    @property
    def level(self) -> int:
        """How deep it stands."""
        return len(self.parts)


def read_number(text: str) -> Number | None:
    """The number a heading begins with.

    >>> read_number("3.2 Results").parts, read_number("IV. RELATED WORK").parts, read_number("Results")
    ((3, 2), (4,), None)
    """
    if found := _NAMED.match(text):
        return Number("named", (_value(found[1]) if found[1] else 0,), found.end())
    if (found := _ROMAN.match(text)) and found[1] not in ("C", "D"):
        return Number("roman", (_roman(found[1]),), found.end())
    if found := _ARABIC.match(text) or _TIGHT.match(text):
        parts = re.findall(r"\d+", found[1] or found[2])
        return Number("arabic", tuple(map(int, parts)), found.end())
    if found := _LETTER.match(text):
        letter, *rest = found[1].split(".")
        return Number("letter", (ord(letter) - 64, *map(int, rest)), found.end())
    return None


def _value(text: str) -> int:
    if text.isdigit():
        return int(text)
    return ord(text.upper()) - 64 if len(text) == 1 else _roman(text.upper())


def _roman(text: str) -> int:
    values = [_ROMAN_VALUES.get(letter, 0) for letter in text]
    return sum(-v if v < w else v for v, w in zip(values, [*values[1:], 0], strict=True))


def consistent(numbers: list[Number], weights: list[float] | None = None) -> list[bool]:
    """Which of the numbers, in document order, belong to a count: the heaviest chain of plausible steps of a series.

    >>> consistent([Number("arabic", parts, 2) for parts in [(1,), (1, 1), (7,), (2,), (3,)]])
    [True, True, False, True, True]
    """
    weights = weights or [1.0] * len(numbers)
    kept = [number.series == "named" for number in numbers]
    series: Series
    for series in ("arabic", "letter", "roman"):
        places = [i for i, number in enumerate(numbers) if number.series == series]
        for place in _chain([numbers[i].parts for i in places], [weights[i] for i in places]):
            kept[places[place]] = True
    return kept


def _chain(parts: list[tuple[int, ...]], weights: list[float]) -> list[int]:
    best: list[float] = []
    back: list[int] = []
    for i, here in enumerate(parts):
        opening = all(part <= 1 for part in here)
        score, previous = (1.0 if opening else 0.3) * weights[i], -1
        for j in range(max(0, i - 60), i):
            gain = _step(parts[j], here) * weights[i]
            if gain and best[j] + gain > score:
                score, previous = best[j] + gain, j
        best.append(score)
        back.append(previous)
    chain: list[int] = []
    place = max(range(len(parts)), key=best.__getitem__) if parts else -1
    while place >= 0:
        chain.append(place)
        place = back[place]
    return chain[::-1]


def _step(before: tuple[int, ...], here: tuple[int, ...]) -> float:
    """How plausible it is that one number follows another: 1 the next, less with numbers left out, 0 not at all."""
    depth = len(here)
    if depth > len(before):
        if here[: len(before)] == before and all(part <= 2 for part in here[len(before) :]):
            return 1.0 if all(part <= 1 for part in here[len(before) :]) else 0.6
        # a section whose own heading was not seen
        return 0.4 if here[0] == before[0] + 1 and all(part <= 1 for part in here[1:]) else 0.0
    if here[: depth - 1] != before[: depth - 1]:
        longer = here[0] == before[0] + 1 and all(part <= 1 for part in here[1:])
        return 0.4 if longer else 0.05 if all(part == 1 for part in here) else 0.0
    jump = here[-1] - before[depth - 1]
    if jump == 1:
        return 1.0
    if 1 < jump <= 3:
        return 0.6
    return 0.05 if all(part == 1 for part in here) else 0.0  # the count begins anew
