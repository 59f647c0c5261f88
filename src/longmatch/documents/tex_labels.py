"""What LaTeX's references stand for: the number of a section, figure or formula, the name or number of a cited work."""

import re
from collections import Counter

from longmatch.documents.tex_source import group

_BIBITEM = re.compile(r"\\bibitem\s*(?=[\[{])")
_NAME_AND_YEAR = re.compile(r"(.+?)\((\d{4}[a-z]?)\).*", re.DOTALL)
_EVENT = re.compile(
    r"\\(?P<section>chapter|(?:sub){0,2}section)(?![A-Za-z*])"
    r"|\\begin\s*\{(?P<begin>figure|table|algorithm|equation|align|gather|multline|eqnarray)(?P<star>\*?)\}"
    r"|\\end\s*\{(?P<end>figure|table|algorithm)\*?\}|\\label\s*\{(?P<label>[^{}]+)\}"
)
_DEPTHS = ("chapter", "section", "subsection", "subsubsection")
_FORMULAS = {"equation", "align", "gather", "multline", "eqnarray"}


def places(source: str) -> dict[str, str]:
    r"""The number each \label stands for.

    >>> places(r"\section{A}\label{a}\begin{figure}\label{f}\end{figure}\subsection{B}\label{b}")
    {'a': '1', 'f': '1', 'b': '1.1'}
    """
    found_places: dict[str, str] = {}
    sections: list[int] = []
    counts: Counter[str] = Counter()
    top = 0 if "\\chapter" in source else 1
    section = current = ""
    for found in _EVENT.finditer(source):
        if name := found["section"]:
            depth = max(0, _DEPTHS.index(name) - top)
            sections = [*sections, *([0] * (depth + 1 - len(sections)))][: depth + 1]
            sections[depth] += 1
            section = current = ".".join(map(str, sections))
        elif name := found["begin"]:
            kind = "formula" if name in _FORMULAS else name
            if kind != "formula" or not found["star"]:
                counts[kind] += 1
                current = str(counts[kind])
        elif found["end"]:
            current = section
        else:
            found_places[found["label"].strip()] = current
    return found_places


def works(source: str) -> dict[str, str]:
    r"""How each cited work is named in the text: Doe (2001) where the list of references says so, else its number.

    >>> works(r"\bibitem[Doe(2001)]{d} J. Doe. \bibitem{e} E. Roe.")
    {'d': 'Doe (2001)', 'e': '[2]'}
    """
    names: dict[str, str] = {}
    for number, found in enumerate(_BIBITEM.finditer(source), start=1):
        label, position = group(source, found.end(), "[")
        named = _NAME_AND_YEAR.fullmatch(re.sub(r"\\protect|\\[a-z]+|[{}]", "", label.replace("~", " ")))
        name = f"{' '.join(named[1].split())} ({named[2]})" if named else f"[{number}]"
        names[group(source, position)[0].strip()] = name
    return names
