"""From upstream text to sections: what is dropped, and where paragraphs end."""

import re
from collections.abc import Iterable, Sequence

from longmatch.lab.datasets.records import Part

_NUMBER = r"(?:(?:[0-9]+(?:\.[0-9]+)*|[ivx]+|[a-z])[.)]?\s+)?"

BACK_MATTER = re.compile(
    _NUMBER + r"(?:abstract|references?|reference list|bibliography|literature cited|works cited|acknowledge?ments?)"
    r"\s*[:.]?\s*",
    re.IGNORECASE,
)
"""What CoLDE 4.1.1 and SMITH 5.1.2 take out of a paper (abstract, references), and whom it thanks."""

LINK_LISTS = re.compile(
    r"(?:references?|notes(?: and references)?|footnotes|citations|sources|bibliography|further reading"
    r"|external links?|see also|related (?:wikipedia for schools )?articles|links)\s*",
    re.IGNORECASE,
)
"""The sections of an encyclopedia article that list references and links."""


def joined(text: str) -> str:
    """The text with every run of white space made one space."""
    return " ".join(text.split())


def paragraphs(text: str) -> str:
    """Paragraphs at blank lines, or at every line end where there are no blank lines.

    >>> paragraphs("One\\nline.\\n \\n Two."), paragraphs("One.\\nTwo.")
    ('One line.\\n\\nTwo.', 'One.\\n\\nTwo.')
    """
    blocks = re.split(r"\n[ \t\r]*\n", text)
    if len(blocks) == 1:
        blocks = text.splitlines()
    return "\n\n".join(filter(None, map(joined, blocks)))


def wrapped(text: str) -> str:
    """Paragraphs at blank lines only, where a line end is just where the page was full; hyphens at line ends close.

    >>> wrapped("A long sen-\\ntence\\ngoes on.\\n\\nNext.")
    'A long sentence goes on.\\n\\nNext.'
    """
    text = re.sub(r"(?<=[a-z])-\n(?=[a-z])", "", text)
    return "\n\n".join(filter(None, map(joined, re.split(r"\n[ \t\r]*\n", text))))


def grouped(sentences: Sequence[str], size: int) -> str:
    """Paragraphs of `size` sentences, where upstream marks sentences but no paragraphs.

    >>> grouped(["A.", "B.", "C."], 2)
    'A. B.\\n\\nC.'
    """
    rows = [joined(" ".join(sentences[at : at + size])) for at in range(0, len(sentences), size)]
    return "\n\n".join(filter(None, rows))


def kept(parts: Iterable[Part], dropped: re.Pattern[str] | None = None) -> tuple[Part, ...]:
    """The sections with text whose heading is not one to drop, headings on one line."""
    tidy = (Part(joined(part.heading), part.text.strip()) for part in parts)
    return tuple(part for part in tidy if part.text and not (dropped and dropped.fullmatch(part.heading)))
