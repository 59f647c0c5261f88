"""The headings above a heading: by its level, and among those of one level by how they are numbered."""

import re
from collections.abc import Iterable

_MARK = re.compile(r"(?P<number>\d+(?:\.\d+)*)[.)]?(?:\s|$)|(?P<sign>[A-Z]+|[a-z])(?:[.):]|\s*[-–—]|\s+(?=[A-Z]{2})|$)")
_ROMAN = re.compile(r"[IVX]+|X?L[IVX]*")
_NESTED = ("roman", "letter", "number", "small")  # the parts of a judgment: III, B, 2, a


def parents(headings: Iterable[tuple[int, str]]) -> tuple[str, ...]:
    """The headings above the last of some headings, each given with its level; the outermost first.

    >>> parents([(1, "II. Facts"), (1, "III. Discussion"), (1, "A. Waiver"), (1, "B. Standing")])
    ('III. Discussion',)
    >>> parents([(1, "4 Results"), (2, "4.1 Data")]), parents([(1, "5 Conclusion"), (1, "A. Proofs")])
    (('4 Results',), ())
    """
    above: list[tuple[tuple[int, int], str, str]] = []  # level and depth, how it is numbered, heading
    letter = ""
    for level, heading in headings:
        kind, sign = _numbering(heading, letter)
        letter = sign if kind == "letter" else "" if kind == "roman" else letter
        place = (level, sign.count(".") or _depth(kind, [(depth, other) for (_, depth), other, _ in above]))
        while above and above[-1][0] >= place:
            above.pop()
        above.append((place, kind, heading))
    return tuple(heading for _, _, heading in above[:-1] if heading)


def _numbering(heading: str, letter: str) -> tuple[str, str]:
    """How a heading is numbered, and its number; `letter` is the one before it: I follows H, V does not."""
    mark = _MARK.match(heading.strip())
    if mark is None:
        return "", ""
    sign = mark["sign"]
    if sign is None:
        return "number", mark["number"]
    if sign.islower():
        return "small", sign
    if _ROMAN.fullmatch(sign) and not (letter and ord(letter) + 1 == ord(sign[0])):
        return "roman", sign
    return ("letter", sign) if len(sign) == 1 else ("", "")


def _depth(kind: str, above: list[tuple[int, str]]) -> int:
    """How deep a kind of number is nested in those above: a letter below a Roman number, else not at all."""
    depth = _NESTED.index(kind) if kind in _NESTED else 0
    return depth if depth and (depth - 1, _NESTED[depth - 1]) in above else 0
