"""Lines of a text with their places, for the readers of plain formats."""

import re
from collections.abc import Iterator

from longmatch.documents.document import Span

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n|\Z)")


def lines_of(text: str) -> Iterator[Span]:
    r"""The lines, without their ends; only \n, \r\n and \r end a line.

    >>> [line.of("a\r\n\nb") for line in lines_of("a\r\n\nb")]
    ['a', '', 'b']
    """
    position = 0
    while position < len(text):
        found = _LINE.match(text, position)
        assert found is not None
        yield Span(position, position + len(found[0].rstrip("\r\n")))
        position = found.end()


def trimmed(text: str, start: int, end: int) -> Span:
    """The span without the white space at its two ends.

    >>> trimmed("  ab ", 0, 5)
    Span(start=2, end=4)
    """
    piece = text[start:end]
    start += len(piece) - len(piece.lstrip())
    return Span(start, start + len(piece.strip()))
