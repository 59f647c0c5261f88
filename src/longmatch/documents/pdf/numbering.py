"""Heading numbers: parsing them, and selecting those that form a sequence through the document."""

import re
from dataclasses import dataclass
from typing import Literal

Series = Literal["arabic", "letter", "roman", "named"]

_ARABIC = re.compile(r"(\d{1,3}(?:\s?\.\s?\d{1,3}){0,4})(?:\s*+[.):]\s++|\s++)(?=[^\W\d_]|[\"“'‘(\d])")
_TIGHT = re.compile(
    r"(\d{1,2}(?:\.\d{1,2}){0,4})\.?(?=[^\W\d_]{2})|(\d{1,2}(?:\.\d{1,2}){0,4})[.．、]?\s*(?=[\u3400-\u9fff])"
)
_LETTER = re.compile(r"([A-Z](?:\.\d{1,2}){0,3})(?:\s*+[.:)]\s++|\s++)(?=[^\W\d_a-z]|[a-z]{3})")
_ROMAN = re.compile(r"([IVX]{1,6})\s*[.:)–—-]\s*(?=[^\W\d_])")
_NAMED = re.compile(
    r"(?:appendix|appendices|annex|chapter|section|part|article|schedule|anhang|kapitel|abschnitt|annexe|chapitre)"
    r"\s+([A-Z]|\d{1,3}|[IVXLC]{1,6})\b\s*[.:)–—-]?|(第[一二三四五六七八九十百零\d]{1,5}[章节節條条部编篇])|([一二三四五六七八九十]{1,3})、",
    re.IGNORECASE,
)
_LARGE_GAP = 12
_ROMAN_VALUES = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100}


@dataclass(frozen=True)
class Number:
    """A heading number: its series and its parts."""

    series: Series
    parts: tuple[int, ...]
    length: int  # characters of the heading's text

    @property
    def level(self) -> int:
        """Its depth: 2 for "3.1"."""
        return len(self.parts)


def read_number(text: str) -> Number | None:
    """The number a heading begins with.

    >>> read_number("3.2 Results").parts, read_number("IV. RELATED WORK").parts, read_number("Results")
    ((3, 2), (4,), None)
    """
    if match := _NAMED.match(text):
        name = (match[1] or "0").upper()  # none: Chinese
        value = int(name) if name.isdigit() else ord(name) - 64 if len(name) == 1 else _roman(name)
        return Number("named", (value,), match.end())
    if match := _ROMAN.match(text):
        return Number("roman", (_roman(match[1]),), match.end())
    if match := _ARABIC.match(text) or _TIGHT.match(text):
        parts = re.findall(r"\d+", match[1] or match[2])
        return Number("arabic", tuple(map(int, parts)), match.end())
    if match := _LETTER.match(text):
        letter, *rest = match[1].split(".")
        return Number("letter", (ord(letter) - 64, *map(int, rest)), match.end())
    return None


def _roman(text: str) -> int:
    values = [_ROMAN_VALUES.get(letter, 0) for letter in text]
    return sum(-v if v < w else v for v, w in zip(values, [*values[1:], 0], strict=True))


def consistent(numbers: list[Number], weights: list[float]) -> list[bool]:
    """Which numbers, in document order, form a sequence: the chain of plausible steps with the largest weight.

    >>> consistent([Number("arabic", parts, 2) for parts in [(1,), (1, 1), (7,), (2,), (3,)]], [1.0] * 5)
    [True, True, False, True, True]
    """
    kept = [number.series == "named" for number in numbers]
    series: Series
    for series in ("arabic", "letter", "roman"):
        indices = [i for i, number in enumerate(numbers) if number.series == series]
        for member in _best_chain([numbers[i].parts for i in indices], [weights[i] for i in indices]):
            kept[indices[member]] = True
    return kept


def _best_chain(parts: list[tuple[int, ...]], weights: list[float]) -> list[int]:
    """Indices of the chain with the largest weight, by dynamic programming."""
    best: list[float] = []
    back: list[int] = []
    for i, current in enumerate(parts):
        opening = all(part <= 1 for part in current)
        score, previous = (1.0 if opening else 0.3) * weights[i], -1
        for j in range(max(0, i - 60), i):
            gain = _step_plausibility(parts[j], current) * weights[i]
            if gain and best[j] + gain > score:
                score, previous = best[j] + gain, j
        best.append(score)
        back.append(previous)
    chain: list[int] = []
    member = max(range(len(parts)), key=best.__getitem__) if parts else -1
    while member >= 0:
        chain.append(member)
        member = back[member]
    if len(chain) > 1 and parts[chain[0]][0] - parts[chain[1]][0] > _LARGE_GAP:
        del chain[0]  # far from the others, and nothing follows it: a quantity
    return chain[::-1]


def _step_plausibility(before: tuple[int, ...], current: tuple[int, ...]) -> float:
    """How plausibly one number follows another: 1 for the next number, less if some are missing, 0 if impossible."""
    depth = len(current)
    within = current[len(before) :]
    if within and current[: len(before)] == before and max(within) <= 2:
        return 1.0 if max(within) <= 1 else 0.6
    if within or current[: depth - 1] != before[: depth - 1]:  # the heading of the enclosing section is missing
        plausibility = _gap(current[0] - before[0]) * 0.4 if all(part <= 1 for part in current[1:]) else 0.0
    else:
        plausibility = _gap(current[-1] - before[depth - 1])
    starts_again = not within and all(part == 1 for part in current)
    return plausibility or (0.05 if starts_again else 0.0)


def _gap(jump: int) -> float:
    """How plausible a step of `jump` is: some headings may have been deleted, or not be recognised; 0 if backwards."""
    if jump <= 0:
        return 0.0
    return 1.0 if jump == 1 else 0.6 if jump <= 3 else 0.3 if jump <= _LARGE_GAP else 0.02
