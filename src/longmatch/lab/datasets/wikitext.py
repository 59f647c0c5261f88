"""Wikipedia's markup: the links of an article, and its running text in sections.

Every step is one pass over the text, and templates are dropped instead of expanded, so that cost is linear in the text.
"""

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from longmatch.lab.datasets.records import Part, open_binary, report
from longmatch.lab.datasets.safe_xml import iterate_elements
from longmatch.lab.datasets.sections import LINK_LISTS, clean_parts, collapse_spaces

_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_SKIPPED_TAG = re.compile(
    r"<(/?)(ref|gallery|math|chem|timeline|score|syntaxhighlight|source|imagemap|mapframe|nowiki)\b([^<>]*)>",
    re.IGNORECASE,
)
_LINK = re.compile(r"\[\[([^\[\]|#{}<>\n]+)")
_HEADING = re.compile(r"^(={2,6})[ \t]*(.+?)[ \t]*\1[ \t]*$", re.MULTILINE)
_EXTERNAL_LINK = re.compile(r"\[(?:https?:|ftp:|mailto:)?//[^\s\]]+\s*([^\]\n]*)\]")
_TAG = re.compile(r"</?[a-zA-Z][^<>\n]*>")
_BREAK = re.compile(r"<br\s*/?>", re.IGNORECASE)
_QUOTES = re.compile(r"'{2,5}")
_MAGIC_WORD = re.compile(r"__[A-Z]+__")
_LIST_MARKER = re.compile(r"^[*#:;]+[ \t]*", re.MULTILINE)
_DISAMBIGUATION = re.compile(
    r"\{\{\s*(?:[\w -]{0,60}\bdisambig(?:uation)?\b|dab|hndis|geodis)[^{}]{0,200}\}\}", re.IGNORECASE
)


def page_title(link: str) -> str:
    """A link's target as a title: spaces for underscores, the first letter capitalised.

    >>> page_title(" apple_tree "), page_title("iPod")
    ('Apple tree', 'IPod')
    """
    title = " ".join(link.replace("_", " ").split())
    return title[:1].upper() + title[1:]


def link_targets(wikitext: str) -> Iterator[str]:
    """The titles a page links to, in order, including those inside templates.

    >>> list(link_targets("A [[apple|fruit]] of a [[tree#Bark]]. <!-- [[No]] --> [[File:A.png|[[Leaf]]]]"))
    ['Apple', 'Tree', 'File:A.png', 'Leaf']
    """
    return (page_title(match) for match in _LINK.findall(_COMMENT.sub("", wikitext)))


def is_disambiguation(title: str, wikitext: str) -> bool:
    """Whether a page only lists the possible meanings of a name."""
    return title.endswith("(disambiguation)") or bool(_DISAMBIGUATION.search(wikitext))


def remove_nested(text: str, opening: str, closing: str) -> str:
    """Remove everything between the delimiters, however deeply nested; unmatched delimiters are removed alone.

    >>> remove_nested("a {{b {{c}} d}} e }} f {{ g", "{{", "}}")
    'a  e  f  g'
    """
    if opening not in text and closing not in text:
        return text
    unclosed: list[int] = []
    removed: list[tuple[int, int]] = []
    for match in re.finditer(f"{re.escape(opening)}|{re.escape(closing)}", text):
        if match.group() == opening:
            unclosed.append(match.start())
        elif unclosed:
            start = unclosed.pop()
            while removed and removed[-1][0] > start:
                removed.pop()
            removed.append((start, match.end()))
        else:
            removed.append(match.span())
    removed.extend((start, start + len(opening)) for start in unclosed)
    return "".join(_outside(text, sorted(removed)))


def _remove_skipped(text: str) -> str:
    """Remove notes, formulas, galleries and the like; a tag that is never closed is removed alone."""
    tags = [(match, match[2].lower()) for match in _SKIPPED_TAG.finditer(text)]
    last_close = {name: match.start() for match, name in tags if match[1]}
    removed: list[tuple[int, int]] = []
    inside, start = "", 0
    for match, name in tags:
        if inside and not (match[1] and name == inside):
            continue
        if inside:
            removed.append((start, match.end()))
            inside = ""
        elif match[1] or match[3].endswith("/") or last_close.get(name, -1) < match.start():
            removed.append(match.span())
        else:
            inside, start = name, match.start()
    return "".join(_outside(text, removed))


def _outside(text: str, spans: list[tuple[int, int]]) -> Iterator[str]:
    position = 0
    for start, end in spans:
        yield text[position:start]
        position = end
    yield text[position:]


def _resolve_links(text: str) -> str:
    """Replace [[page|label]] by its label; remove images, categories and links to other languages."""
    stack: list[list[str]] = [[]]
    for token in re.split(r"(\[\[|\]\])", text):
        if token == "[[":
            stack.append([])
        elif token == "]]":
            if len(stack) > 1:
                target, bar, label = "".join(stack.pop()).partition("|")
                if re.match(r"\s*[A-Za-z_-]{2,20}:\S", target):  # File:, Category:, de:; titles have a space there
                    continue
                stack[-1].append(label.rpartition("|")[2] if bar else target.lstrip(":"))
        else:
            stack[-1].append(token)
    return "".join("".join(tokens) for tokens in stack)


def wikitext_parts(wikitext: str) -> tuple[Part, ...]:
    """The running text in sections, without templates, tables, images, notes, references and link lists.

    >>> wikitext_parts("'''Apple''' is a [[fruit|sweet fruit]].{{cn}}\\n== Use ==\\nEaten.\\n== References ==\\n* None")
    (Part(heading='', text='Apple is a sweet fruit.'), Part(heading='Use', text='Eaten.'))
    """
    text = _remove_skipped(_COMMENT.sub("", wikitext))
    text = remove_nested(text, "{{", "}}")
    text = remove_nested(text, "{|", "|}")
    text = _EXTERNAL_LINK.sub(r"\1", _resolve_links(text))
    text = _MAGIC_WORD.sub("", _QUOTES.sub("", _TAG.sub("", _BREAK.sub("\n", text))))
    pieces = _HEADING.split(html.unescape(text))  # text, then repeatedly (marks, heading, text)
    headings = ["", *pieces[2::3]]
    return clean_parts((Part(h, _paragraphs(body)) for h, body in zip(headings, pieces[::3], strict=True)), LINK_LISTS)


def _paragraphs(body: str) -> str:
    """Each non-empty line is a paragraph or a list item."""
    lines = (collapse_spaces(_LIST_MARKER.sub("", line)) for line in body.split("\n"))
    return "\n\n".join(line for line in lines if any(map(str.isalnum, line)))


@dataclass(frozen=True, slots=True)
class Page:
    """An article, or a redirect to one."""

    title: str
    text: str
    redirect: str  # target title, or empty


def iterate_pages(dumps: list[Path]) -> Iterator[Page]:
    """The pages of the article namespace (0), in dump order."""
    count = 0
    for dump in dumps:
        with open_binary(dump) as stream:
            for element in iterate_elements(stream, "page", dump):
                if element.findtext("ns", "0") == "0":
                    count += 1
                    if count % 1000 == 0:
                        report("pages read", count)
                    redirect = element.find("redirect")
                    target = redirect.get("title", "") if redirect is not None else ""
                    yield Page(element.findtext("title", ""), element.findtext("revision/text") or "", target)


def page_id(title: str) -> str:
    """The document id of a title: its form in URLs.

    >>> page_id("Apple tree")
    'Apple_tree'
    """
    return title.replace(" ", "_")
