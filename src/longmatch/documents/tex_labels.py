"""Resolve LaTeX's cross-references and citations: numbers of sections, figures and formulas, names of cited works."""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from longmatch.documents.tex_source import group

_LONGEST_KEY = 500  # characters: a brace that is never closed must not be looked for to the end of the file
_BIBITEM = re.compile(r"\\bibitem\s*(?=[\[{])")
_NAME_AND_YEAR = re.compile(r"(.+?)\((\d{4}[a-z]?)\).*", re.DOTALL)
_LABEL_MARKUP = re.compile(r"\\protect|\\[a-z]+|[{}]")
_COUNTED = re.compile(
    r"\\(?P<section>chapter|(?:sub){0,2}section)(?![A-Za-z*])"
    r"|\\begin\s*\{(?P<begin>figure|table|algorithm|equation|align|gather|multline|eqnarray)(?P<star>\*?)\}"
    r"|\\end\s*\{(?P<end>figure|table|algorithm)\*?\}|\\label\s*\{(?P<label>[^{}]+)\}"
)
_LEVELS = ("chapter", "section", "subsection", "subsubsection")
_FORMULAS = {"equation", "align", "gather", "multline", "eqnarray"}


@dataclass(frozen=True)
class Labels:
    r"""The text of each \ref and each \cite, by its key."""

    numbers: Mapping[str, str] = field(default_factory=dict)
    citations: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, source: str, references: str) -> "Labels":
        """The labels of a source; `references` is its .bbl file, used if the source lists no references itself."""
        return cls(label_numbers(source), citation_texts(source) or citation_texts(references))


def label_numbers(source: str) -> dict[str, str]:
    r"""The number each \label refers to.

    >>> label_numbers(r"\section{A}\label{a}\begin{figure}\label{f}\end{figure}\subsection{B}\label{b}")
    {'a': '1', 'f': '1', 'b': '1.1'}
    """
    numbers: dict[str, str] = {}
    sections: list[int] = []
    counts: Counter[str] = Counter()
    top_level = 0 if "\\chapter" in source else 1
    section = current = ""
    for command in _COUNTED.finditer(source):
        if name := command["section"]:
            depth = max(0, _LEVELS.index(name) - top_level)
            sections = [*sections, *([0] * (depth + 1 - len(sections)))][: depth + 1]
            sections[depth] += 1
            section = current = ".".join(map(str, sections))
        elif name := command["begin"]:
            kind = "formula" if name in _FORMULAS else name
            if kind != "formula" or not command["star"]:
                counts[kind] += 1
                current = str(counts[kind])
        elif command["end"]:
            current = section
        else:
            numbers[command["label"].strip()] = current
    return numbers


def citation_texts(source: str) -> dict[str, str]:
    r"""The text of each citation: Doe (2001) if the reference list gives name and year, else the item's number.

    >>> citation_texts(r"\bibitem[Doe(2001)]{d} J. Doe. \bibitem{e} E. Roe.")
    {'d': 'Doe (2001)', 'e': '[2]'}
    """
    texts: dict[str, str] = {}
    position = number = 0
    for item in _BIBITEM.finditer(source):
        if item.start() < position:
            continue
        number += 1
        label, position = group(source, item.end(), "[")
        match = _NAME_AND_YEAR.fullmatch(_LABEL_MARKUP.sub("", label.replace("~", " ")))
        text = f"{' '.join(match[1].split())} ({match[2]})" if match else f"[{number}]"
        texts[group(source[position : position + _LONGEST_KEY], 0)[0].strip()] = text
    return texts
