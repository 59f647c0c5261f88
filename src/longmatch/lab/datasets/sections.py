"""Sections from upstream text: which are dropped, and where paragraphs end."""

import re
from collections.abc import Iterable, Sequence

from longmatch.lab.datasets.records import Part

_NUMBER = r"(?:(?:[0-9]+(?:\.[0-9]+)*|[ivx]+|[a-z])[.)]?\s+)?"

BACK_MATTER = re.compile(
    _NUMBER + r"(?:abstract|references?|reference list|bibliography|literature cited|works cited|acknowledge?ments?)"
    r"\s*[:.]?\s*",
    re.IGNORECASE,
)
"""Sections that CoLDE 4.1.1 and SMITH 5.1.2 remove from a paper (abstract, references), and acknowledgements."""

LINK_LISTS = re.compile(
    r"(?:references?|notes(?: and references)?|footnotes|citations|sources|bibliography|further reading"
    r"|external links?|see also|related (?:wikipedia for schools )?articles|links)\s*",
    re.IGNORECASE,
)
"""Sections of an encyclopedia article that list references and links."""


def collapse_spaces(text: str) -> str:
    """Replace every run of white space by one space."""
    return " ".join(text.split())


def normalise_paragraphs(text: str) -> str:
    """Separate paragraphs, which end at blank lines or, if there are none, at every line break, by one blank line.

    >>> normalise_paragraphs("One\\nline.\\n \\n Two."), normalise_paragraphs("One.\\nTwo.")
    ('One line.\\n\\nTwo.', 'One.\\n\\nTwo.')
    """
    blocks = re.split(r"\n[ \t\r]*\n", text)
    if len(blocks) == 1:
        blocks = text.splitlines()
    return "\n\n".join(filter(None, map(collapse_spaces, blocks)))


def unwrap(text: str) -> str:
    """Join the lines of hard-wrapped paragraphs, which end at blank lines; hyphens at line breaks are removed.

    >>> unwrap("A long sen-\\ntence\\ngoes on.\\n\\nNext.")
    'A long sentence goes on.\\n\\nNext.'
    """
    text = re.sub(r"(?<=[a-z])-\n(?=[a-z])", "", text)
    return "\n\n".join(filter(None, map(collapse_spaces, re.split(r"\n[ \t\r]*\n", text))))


def group_sentences(sentences: Sequence[str], size: int) -> str:
    """Make paragraphs of `size` sentences, for sources that mark sentences but not paragraphs.

    >>> group_sentences(["A.", "B.", "C."], 2)
    'A. B.\\n\\nC.'
    """
    groups = [collapse_spaces(" ".join(sentences[start : start + size])) for start in range(0, len(sentences), size)]
    return "\n\n".join(filter(None, groups))


def clean_parts(parts: Iterable[Part], dropped: re.Pattern[str] | None = None) -> tuple[Part, ...]:
    """Strip the sections, and drop those without text or with a heading that matches `dropped`."""
    stripped = (Part(collapse_spaces(part.heading), part.text.strip()) for part in parts)
    return tuple(part for part in stripped if part.text and not (dropped and dropped.fullmatch(part.heading)))
