"""What paragraphs are by their wording, for every format: captions, reference lists, numbered headings, tables."""

import re
from collections.abc import Iterable

_NUMBER = r"(?:[\dIVX]+(?:\.\d+)*\.?\s+|[A-Z]\.\s+)?"
_REFERENCES = re.compile(
    _NUMBER
    + r"(?:(?:notes and )?references(?: and notes)?|references cited|list of references|bibliography|works cited|"
    r"literature cited|cited works|literatur|literaturverzeichnis|quellenverzeichnis|bibliographie|références|"
    r"références bibliographiques|referencias|referencias bibliográficas|bibliografía|referências|bibliografia|"
    r"riferimenti bibliografici|литература|список литературы|参考文献|參考文獻|참고문헌)\s*[:.]?",
    re.IGNORECASE,
)
_CAPTION = re.compile(
    r"(?:(?:figure|fig\.|table|tab\.|abbildung|abb\.|tabelle|tableau|figura|tabla|tabela|рис\.|рисунок|таблица)\s*"
    r"[A-Z]?\d+(?:\.\d+)*\s*[.:]\s*\S|[图表圖図]\s*\d+(?:[.\-]\d+)*\s*[:：.、 ]\s*\S)",
    re.IGNORECASE,
)
_MAX_CAPTION = 1_000  # characters: a longer paragraph only begins like a caption
_MARKDOWN_RULE = re.compile(r"\|(?=[\s|:]*+-)[\s|:-]*\||(?=[|:]*+-)[|:-]*+")  # below the head of a table
_MARKDOWN_BAR = re.compile(r"(?<!\\)\|")
_BAR = re.compile(r"(?:^|(?<=\s))\|(?=\s|$)")
_WIDE_GAP = re.compile(r"\t|\s{3,}")  # between the columns of a printed table
_MARK = re.compile(r"(?P<number>\d+(?:\.\d+)*)[.)]?(?:\s|$)|(?P<sign>[A-Z]+|[a-z])(?:[.):]|\s*[-–—]|\s+(?=[A-Z]{2})|$)")
_ROMAN = re.compile(r"[IVX]+|X?L[IVX]*")
_NESTED = ("roman", "letter", "number", "small")  # the parts of a judgment: III, B, 2, a


def is_reference_heading(heading: str) -> bool:
    """Whether a heading introduces a list of references.

    >>> is_reference_heading("7. References"), is_reference_heading("Letters of reference")
    (True, False)
    """
    return _REFERENCES.fullmatch(" ".join(heading.split())) is not None


def is_caption(paragraph: str) -> bool:
    """Whether a paragraph is the caption of a figure or table.

    >>> is_caption("Figure 3: The apparatus."), is_caption("Figure 3 shows the apparatus.")
    (True, False)
    """
    return len(paragraph) < _MAX_CAPTION and _CAPTION.match(paragraph.lstrip()) is not None


def table_text(rows: Iterable[Iterable[str]]) -> str:
    r"""Cells on one line, separated by bars; rows without any text are left out.

    >>> table_text([["month", "delay"], ["", ""], ["May", "7\nmin"]])
    'month | delay\nMay | 7 min'
    """
    lines = (" | ".join(" ".join(cell.split()) for cell in row) for row in rows)
    return "\n".join(line for line in lines if line.strip(" |"))


def table_cells(text: str) -> list[list[str]]:
    r"""The cells of a table that any reader wrote as text, by row, without empty ones at the end.

    >>> table_cells("month | delay\nMay |  | 7 min"), table_cells("| delay\nMay | 7")
    ([['month', 'delay'], ['May', '', '7 min']], [['', 'delay'], ['May', '7']])
    >>> table_cells("| month | delay |\n|---|---:|\n| May | 7 |"), table_cells("month   delay\nMay   7 min")
    ([['month', 'delay'], ['May', '7']], [['month', 'delay'], ['May', '7 min']])
    """
    lines = [line.strip() for line in text.split("\n")]
    if len(lines) > 1 and "|" in lines[0] and _MARKDOWN_RULE.fullmatch(lines[1]):
        bodies = (line.removeprefix("|").removesuffix("|") for line in (lines[0], *lines[2:]))
        rows = [_MARKDOWN_BAR.split(body) for body in bodies]
    else:
        bar = _BAR if any(map(_BAR.search, lines)) else _WIDE_GAP
        rows = [bar.split(line) for line in lines]
    clean = [[" ".join(cell.split()) for cell in row] for row in rows]
    return [row[: max((n for n, cell in enumerate(row, 1) if cell), default=0)] for row in clean]


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
