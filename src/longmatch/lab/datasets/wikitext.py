"""Wikipedia's own markup: the links of an article, and its running text in sections.

Every step is one pass over the text; nothing is expanded (templates are dropped), so a page cannot blow up.
"""

import html
import re
from collections.abc import Iterator

from longmatch.lab.datasets.records import Part
from longmatch.lab.datasets.sections import LINK_LISTS, joined, kept

_HIDDEN = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_UNREAD = re.compile(
    r"<(/?)(ref|gallery|math|chem|timeline|score|syntaxhighlight|source|imagemap|mapframe|nowiki)\b([^<>]*)>",
    re.IGNORECASE,
)
_LINK = re.compile(r"\[\[([^\[\]|#{}<>\n]+)")
_HEADING = re.compile(r"^(={2,6})[ \t]*(.+?)[ \t]*\1[ \t]*$", re.MULTILINE)
_ADDRESS = re.compile(r"\[(?:https?:|ftp:|mailto:)?//[^\s\]]+\s*([^\]\n]*)\]")
_TAG = re.compile(r"</?[a-zA-Z][^<>\n]*>")
_BREAK = re.compile(r"<br\s*/?>", re.IGNORECASE)
_QUOTES = re.compile(r"'{2,5}")
_SWITCH = re.compile(r"__[A-Z]+__")
_LIST_MARK = re.compile(r"^[*#:;]+[ \t]*", re.MULTILINE)
_DISAMBIGUATION = re.compile(
    r"\{\{\s*(?:[\w -]{0,60}\bdisambig(?:uation)?\b|dab|hndis|geodis)[^{}]{0,200}\}\}", re.IGNORECASE
)


def page_title(link: str) -> str:
    """A link's target as a title: spaces for underscores, the first letter large.

    >>> page_title(" apple_tree "), page_title("iPod")
    ('Apple tree', 'IPod')
    """
    title = " ".join(link.replace("_", " ").split())
    return title[:1].upper() + title[1:]


def link_targets(wikitext: str) -> Iterator[str]:
    """The titles a page links to, in order, also those written inside its templates.

    >>> list(link_targets("A [[apple|fruit]] of a [[tree#Bark]]. <!-- [[No]] --> [[File:A.png|[[Leaf]]]]"))
    ['Apple', 'Tree', 'File:A.png', 'Leaf']
    """
    return (page_title(match) for match in _LINK.findall(_HIDDEN.sub("", wikitext)))


def is_disambiguation(title: str, wikitext: str) -> bool:
    """Whether a page only lists the pages one name may mean."""
    return title.endswith("(disambiguation)") or bool(_DISAMBIGUATION.search(wikitext))


def without_nested(text: str, opening: str, closing: str) -> str:
    """The text without what stands between the marks, however deep they nest; a mark without its partner is dropped.

    >>> without_nested("a {{b {{c}} d}} e }} f {{ g", "{{", "}}")
    'a  e  f  g'
    """
    if opening not in text and closing not in text:
        return text
    waiting: list[int] = []
    gone: list[tuple[int, int]] = []
    for match in re.finditer(f"{re.escape(opening)}|{re.escape(closing)}", text):
        if match.group() == opening:
            waiting.append(match.start())
        elif waiting:
            start = waiting.pop()
            while gone and gone[-1][0] > start:
                gone.pop()
            gone.append((start, match.end()))
        else:
            gone.append(match.span())
    gone.extend((start, start + len(opening)) for start in waiting)
    return "".join(_outside(text, sorted(gone)))


def _without_unread(text: str) -> str:
    """The text without notes, formulas, galleries and such; a tag that is never closed goes alone."""
    tags = [(match, match[2].lower()) for match in _UNREAD.finditer(text)]
    last_close = {name: match.start() for match, name in tags if match[1]}
    gone: list[tuple[int, int]] = []
    inside, start = "", 0
    for match, name in tags:
        if inside and not (match[1] and name == inside):
            continue
        if inside:
            gone.append((start, match.end()))
            inside = ""
        elif match[1] or match[3].endswith("/") or last_close.get(name, -1) < match.start():
            gone.append(match.span())
        else:
            inside, start = name, match.start()
    return "".join(_outside(text, gone))


def _outside(text: str, spans: list[tuple[int, int]]) -> Iterator[str]:
    at = 0
    for start, end in spans:
        yield text[at:start]
        at = end
    yield text[at:]


def _read_links(text: str) -> str:
    """[[page|words]] becomes words; pictures, categories and links to other languages vanish with what they hold."""
    waiting: list[list[str]] = [[]]
    for piece in re.split(r"(\[\[|\]\])", text):
        if piece == "[[":
            waiting.append([])
        elif piece == "]]":
            if len(waiting) > 1:
                inner = "".join(waiting.pop())
                waiting[-1].append(_shown(inner))
        else:
            waiting[-1].append(piece)
    return "".join("".join(pieces) for pieces in waiting)


def _shown(inner: str) -> str:
    target, bar, words = inner.partition("|")
    if re.match(r"\s*[A-Za-z_-]{2,20}:\S", target):  # File:, Category:, de: and such; a title with a colon has a space
        return ""
    return words.rpartition("|")[2] if bar else target.lstrip(":")


def wikitext_parts(wikitext: str) -> tuple[Part, ...]:
    """The running text in sections: no templates, tables, pictures, notes, references or link lists.

    >>> wikitext_parts("'''Apple''' is a [[fruit|sweet fruit]].{{cn}}\\n== Use ==\\nEaten.\\n== References ==\\n* None")
    (Part(heading='', text='Apple is a sweet fruit.'), Part(heading='Use', text='Eaten.'))
    """
    text = _without_unread(_HIDDEN.sub("", wikitext))
    text = without_nested(text, "{{", "}}")
    text = without_nested(text, "{|", "|}")
    text = _ADDRESS.sub(r"\1", _read_links(text))
    text = _SWITCH.sub("", _QUOTES.sub("", _TAG.sub("", _BREAK.sub("\n", text))))
    pieces = _HEADING.split(html.unescape(text))  # text, then (marks, heading, text) again and again
    headings = ["", *pieces[2::3]]
    return kept((Part(h, _paragraphs(body)) for h, body in zip(headings, pieces[::3], strict=True)), LINK_LISTS)


def _paragraphs(body: str) -> str:
    """Wikipedia writes a paragraph or a list point on one line."""
    lines = (joined(_LIST_MARK.sub("", line)) for line in body.split("\n"))
    return "\n\n".join(line for line in lines if any(map(str.isalnum, line)))
