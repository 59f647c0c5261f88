"""A line of LaTeX as a person would read it: accents, dashes, quotes, symbols, formulas in plain characters."""

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field

from longmatch.documents.tex_source import group
from longmatch.documents.tex_symbols import ACCENTS, DROPPED_ARGUMENTS, MATH_ACCENTS, OPERATORS, SYMBOLS

_TOKEN = re.compile(r"\\([A-Za-z@]+)\*?|\\(.)|(\$\$?)|(---|--|``|''|`|~|&)|([{}])|([^\\${}~`'&-]+)|(.)", re.DOTALL)
_CITE = re.compile(r"(?:paren|text|auto|foot|full)?[Cc]ite[A-Za-z]*")
_REFERENCE = re.compile(r"(?:eq|auto|page|name|v)?ref|[cC]ref")
_MARKS = {"---": "—", "--": "–", "``": "“", "''": "”", "`": "‘", "~": " ", "&": " "}
_SPELT = {"lambda": "lamda", "Lambda": "Lamda"}  # as Unicode writes it
_DEEPEST = 30
_LONGEST_ARGUMENTS = 300  # characters: what an unknown command has in braces beyond that is simply text


@dataclass(frozen=True)
class Labels:
    """What references stand for: places in the document, and cited works."""

    places: Mapping[str, str] = field(default_factory=dict)
    works: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class _Mode:
    labels: Labels
    math: bool
    depth: int


def plain(source: str, labels: Labels = Labels(), math: bool = False, depth: int = 0) -> str:  # noqa: B008
    r"""LaTeX as plain text. `labels` says what its references stand for.

    >>> plain(r"Caf\'e --- \emph{na\"{\i}ve} ``$\alpha^{2} \leq \frac{1}{x}$''~\cite{a}", Labels(works={"a": "[1]"}))
    'Café — naïve “α^2 ≤ 1/x” [1]'
    """
    out: list[str] = []
    position = 0
    while position < len(source) and (found := _TOKEN.match(source, position)) is not None:
        position = found.end()
        word, char, dollars, mark, _, text, other = found.groups()
        if word:
            piece, position = _command(word, source, position, _Mode(labels, math, depth))
            out.append(piece)
        elif char:
            piece, position = _character(char, source, position, math)
            out.append(piece)
        elif dollars:
            math = not math
        elif mark:
            out.append(mark if math and mark not in {"~", "&"} else _MARKS[mark])
        else:
            out.append(text or other or "")
    return " ".join("".join(out).split())


def _character(char: str, source: str, position: int, math: bool) -> tuple[str, int]:
    if char in ACCENTS and not math:
        return _accented(ACCENTS[char], source, position)
    if char in "\\,;: \n!>/":
        if char == "\\":
            position = group(source, position, "[")[1]
        return ("" if char in "!/" else " "), position
    return ("" if char in "()[]-" else "‖" if char == "|" else char), position


def _command(word: str, source: str, position: int, mode: _Mode) -> tuple[str, int]:
    if word in ACCENTS and not mode.math and source[position : position + 1] in {"{", " "}:
        return _accented(ACCENTS[word], source, position)
    if word in MATH_ACCENTS:
        return _accented(MATH_ACCENTS[word], source, position)
    if word in SYMBOLS:
        return SYMBOLS[word], position if mode.math else _past_space(source, position)
    if greek := _greek(word):
        return greek, position
    if word in OPERATORS:
        return f"{word} ", position
    if _CITE.fullmatch(word):
        return _citation(source, position, mode.labels)
    if _REFERENCE.fullmatch(word):
        key, position = group(source, position)
        return mode.labels.places.get(key.strip(), ""), position
    if word in {"frac", "dfrac", "tfrac", "nicefrac"} and mode.depth < _DEEPEST:
        above, position = group(source, position)
        below, position = group(source, position)
        return "/".join(plain(part, mode.labels, True, mode.depth + 1) for part in (above, below)), position
    while (after := group(source, position, "[")[1]) > position and source[position] == "[":
        position = after
    if word in DROPPED_ARGUMENTS:
        for _ in range(DROPPED_ARGUMENTS[word]):
            position = group(source, position)[1]
        return "", position
    return _arguments(source, position, mode)


def _arguments(source: str, position: int, mode: _Mode) -> tuple[str, int]:
    """The arguments of a command unknown here, parted by spaces where there are several."""
    window = source[position : position + _LONGEST_ARGUMENTS]
    parts: list[str] = []
    end = 0
    while window.startswith("{", end):
        part, end = group(window, end)
        parts.append(part)
    if len(parts) < 2 or end == _LONGEST_ARGUMENTS or mode.depth >= _DEEPEST:
        return "", position  # the text goes on inside the braces
    return " ".join(plain(part, mode.labels, mode.math, mode.depth + 1) for part in parts), position + end


def _past_space(source: str, position: int) -> int:
    """TeX swallows the space after a letter such as \\ss; an empty group keeps it."""
    if source.startswith("{}", position):
        return position + 2
    return position + 1 if source.startswith(" ", position) else position


def _accented(mark: str, source: str, position: int) -> tuple[str, int]:
    letter, end = group(source, position)
    if end == position:
        while source.startswith(" ", position):
            position += 1
        if found := re.compile(r"\\([A-Za-z]+)\s?|([^\\])", re.DOTALL).match(source, position):
            letter, end = found[0].strip(), found.end()
    letter = {"\\i": "i", "\\j": "j"}.get(letter, letter.lstrip("\\"))
    return unicodedata.normalize("NFC", letter[:1] + mark + letter[1:]) if letter.strip() else "", end


def _greek(word: str) -> str:
    name = word.removeprefix("var")
    try:
        return unicodedata.lookup(
            f"GREEK {'CAPITAL' if name[:1].isupper() else 'SMALL'} LETTER {_SPELT.get(name, name)}"
        )
    except KeyError:
        return ""


def _citation(source: str, position: int, labels: Labels) -> tuple[str, int]:
    while (after := group(source, position, "[")[1]) > position:  # "see", "p. 5"
        position = after
    keys, position = group(source, position)
    return ", ".join(labels.works.get(key.strip(), f"[{key.strip()}]") for key in keys.split(",")), position
