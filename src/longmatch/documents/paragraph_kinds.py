"""Captions and reference lists recognised by their wording, for every format."""

import re

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
