"""Spans of lines, for the readers of formats whose text is the file itself."""

import re
from collections.abc import Iterator

from longmatch.documents.document import Span

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n|\Z)")


def line_spans(text: str) -> Iterator[Span]:
    r"""The lines without their line breaks; only \n, \r\n and \r end a line.

    >>> [line.of("a\r\n\nb") for line in line_spans("a\r\n\nb")]
    ['a', '', 'b']
    """
    position = 0
    while position < len(text):
        match = _LINE.match(text, position)
        assert match is not None
        yield Span(position, position + len(match[0].rstrip("\r\n")))
        position = match.end()


def strip_span(text: str, start: int, end: int) -> Span:
    """The span of text[start:end] without leading and trailing white space.

    >>> strip_span("  ab ", 0, 5)
    Span(start=2, end=4)
    """
    raw = text[start:end]
    start += len(raw) - len(raw.lstrip())
    return Span(start, start + len(raw.strip()))
