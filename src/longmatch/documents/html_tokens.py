"""HTML as tags and text, as browsers divide it: each character is looked at once, whatever is left unclosed."""

import re
from collections.abc import Iterator
from html import unescape
from typing import NamedTuple

_MARKUP = re.compile(  # what has no end goes on to that of the page
    r"""<(?:
      !--(?:-?>|.*?(?:--!?>|\Z))                        # a comment
    | (?:[!?]|/(?![a-z]))[^>]*+(?:>|\Z)                 # a document type, an instruction, an end tag without a name
    | (?P<end>/?)(?P<name>[a-z][^\t\n\r\f />]*+)
      (?P<attributes>(?:[^>=]++|=\s*+(?:"[^"]*+(?:"|\Z)|'[^']*+(?:'|\Z)|[^\s>]*+))*+)(?:>|\Z)
    )""",
    re.VERBOSE | re.DOTALL | re.IGNORECASE,
)
_ATTRIBUTE = re.compile(r"""([^\s/>=][^\s/>=]*+)(?:\s*+=\s*+(?:"([^"]*+)"?|'([^']*+)'?|([^\s>]*+)))?""")
_RAW = {name: re.compile(rf"</{name}(?=[\s/>])", re.IGNORECASE) for name in ("script", "style")}  # their end tags
_HUGE_REFERENCE = re.compile(r"&#(?:[0-9]{8,}+|[xX][0-9a-fA-F]{7,}+);?")  # to no character


class Tag(NamedTuple):
    """A start or end tag; `is_empty` is one that XHTML closes at once, as `<p/>`."""

    name: str
    attributes: dict[str, str]
    is_end: bool = False
    is_empty: bool = False


def tokens(source: str) -> Iterator[Tag | str]:
    """The tags and the text of a page, with character references resolved; comments and scripts are left out.

    >>> [token if isinstance(token, str) else token[:2] for token in tokens("&amp; <b class=x hidden>b<!-- c -->1 < 2")]
    ['& ', ('b', {'class': 'x', 'hidden': ''}), 'b', '1 <', ' 2']
    """
    position = 0
    while (start := source.find("<", position)) >= 0:
        markup = _MARKUP.match(source, start)
        end = markup.end() if markup else start + 1  # a `<` that begins no tag is text
        if text := source[position : start if markup else end]:
            yield plain(text)
        position = end
        if markup and markup["name"]:
            tag = _tag(markup)
            yield tag
            if tag.name in _RAW and not tag.is_end and not tag.is_empty:
                closing = _RAW[tag.name].search(source, position)
                position = closing.start() if closing else len(source)
    if position < len(source):
        yield plain(source[position:])


def plain(text: str) -> str:
    """The text with its character references resolved.

    >>> plain("&lt;&#x41;&nbsp;&#999999999999;") == "<A\\xa0\\ufffd"
    True
    """
    return unescape(_HUGE_REFERENCE.sub("\ufffd", text)) if "&" in text else text


def _tag(markup: re.Match[str]) -> Tag:
    given, values, end = markup["attributes"], {}, 0
    for attribute in _ATTRIBUTE.finditer(given):
        values[attribute[1].lower()] = plain(attribute[2] or attribute[3] or attribute[4] or "")
        end = attribute.end()
    return Tag(markup["name"].lower(), values, bool(markup["end"]), given.endswith("/") and end < len(given))
