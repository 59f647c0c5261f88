"""Markdown: the document's text is the file itself, and every block is a span of it."""

import re
from functools import cache
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING

from longmatch.documents.decoding import read_text
from longmatch.documents.document import Kind, Span, line_spans, strip_span
from longmatch.documents.draft import Block, Draft
from longmatch.documents.metadata import bibliography
from longmatch.documents.paragraph_kinds import is_caption

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

_BLOCK = re.compile(r"---[ \t]*(?:\r\n|\r|\n)(.*?)(?:\r\n|\r|\n)(?:---|\.\.\.)[ \t]*(?=\r|\n|\Z)", re.DOTALL)
_FIELD = re.compile(r"([A-Za-z][\w-]*+)[ \t]*+:(?:[ \t]++(.*))?$")
_ITEM = re.compile(r"[ \t]*+-[ \t]++(?:name[ \t]*+:[ \t]*+)?(.*)$")

_MARKERS = re.compile(r"(?:[ \t]|>|[-*+](?=[ \t])|\d{1,9}[.)](?=[ \t])|#{1,6}(?=[ \t]))*")
_FOOTNOTE = re.compile(r"\[\^[^\]]+\]:")
_INLINE_MARKUP = re.compile(
    r"""!?\[(?P<link>[^\[\]\n]{1,400})\](?:\([^()\s]{0,800}(?:[ ]"[^"\n]{0,200}")?\)|\[[^\[\]\n]{0,100}\])
    | \[\^[^\]\s]{1,40}\]                                 # a footnote reference
    | (?<![\w*_])[*_]{1,3}(?=[^\s*_]) | (?<=[^\s*_])[*_]{1,3}(?![\w*_])
    | `+
    | </?[a-zA-Z][^<>\n]{0,200}>""",
    re.VERBOSE,
)
_HTML_MARKUP = re.compile(  # what is never closed goes on to the end
    r"<!--.*?(?:-->|\Z)|<(script|style)\b.*?(?:</\1\s*>|\Z)|<[^<>]*>", re.DOTALL | re.IGNORECASE
)


def read_markdown(path: Path) -> Draft:
    """Read a Markdown file."""
    return draft_markdown(read_text(path))


def draft_markdown(text: str) -> Draft:
    """Headings, paragraphs (one per list item), code and tables of a Markdown text.

    >>> draft = draft_markdown("# A *fine* title\\n\\nFirst.\\n\\n- one\\n- two\\n")
    >>> draft.title, [(b.kind, b.of(draft.text)) for b in draft.blocks]
    ('A fine title', [('heading', 'A *fine* title'), ('text', 'First.'), ('text', 'one'), ('text', 'two')])
    """
    draft = Draft(text=text, plain=blank_markup(text))
    body = text
    if front_matter := _BLOCK.match(text):  # blanked to keep line numbers
        body = re.sub(r"[^\r\n]", " ", front_matter[0]) + text[front_matter.end() :]
        found = fields(front_matter[1])
        draft.title = " ".join(found.get("title", ()))

        def all_of(*names: str) -> list[str]:
            return [value for name in names for value in found.get(name, ())]

        draft.metadata = bibliography(
            all_of("author", "authors"),
            all_of("year", "date", "published"),
            all_of("doi"),
            tags="; ".join(all_of("tags", "tag", "categories")),
            keywords="; ".join(all_of("keywords")),
        )
    lines = list(line_spans(text))
    tokens = _parser(inline=False).parse(body)
    for token, following in zip_longest(tokens, tokens[1:]):
        block = _block(text, lines, token, following.content if following else "")
        if block is not None and block.end > block.start:
            draft.blocks.append(block)
    if not draft.title:
        first = next((b for b in draft.blocks if b.kind == "heading"), None)
        draft.title = first.label if first is not None and (first.level == 1 or first is draft.blocks[0]) else ""
    return draft


def _block(text: str, lines: list[Span], token: "Token", content: str) -> Block | None:
    """The block that a token of the parser begins, if any; `content` is that of the next token."""
    if token.map is None:
        return None
    first, last = token.map[0], min(token.map[1], len(lines))
    if token.type in {"heading_open", "paragraph_open"}:
        span = _content_span(text, lines[first:last], content)
        if token.type == "heading_open":
            return Block(span.start, span.end, "heading", int(token.tag[1]), label=strip_markup(content))
        kind: Kind = "caption" if is_caption(content.lstrip("*_")) else "text"
        return Block(span.start, span.end, "footnote" if _FOOTNOTE.match(content) else kind)
    span = strip_span(text, lines[first].start, lines[last - 1].end) if last > first else Span(0, 0)
    if token.type in {"fence", "code_block"}:
        if token.type == "fence" and last - first > 1:
            closed = lines[last - 1].of(text).strip(" \t>").startswith(token.markup)
            span = strip_span(text, lines[first + 1].start, lines[last - 1 - closed].end)
        return Block(span.start, span.end, "code") if token.content.strip() else None
    if token.type == "table_open":
        return Block(span.start, span.end, "table")
    if token.type == "html_block" and _HTML_MARKUP.sub("", token.content).strip():
        return Block(span.start, span.end)
    return None


def _content_span(text: str, lines: list[Span], content: str) -> Span:
    """The span of a block's content, without the heading's #, the item's bullet, the setext underline."""
    content_lines = content.split("\n")
    first, last = lines[0], lines[min(len(content_lines), len(lines)) - 1]
    start = text.find(content_lines[0], first.start, first.end)
    if start < 0:  # the parser turned tabs into spaces
        markers = _MARKERS.match(text, first.start, first.end)
        start = markers.end() if markers else first.start
    end = start + len(content_lines[0]) if last is first and text.startswith(content_lines[0], start) else last.end
    return strip_span(text, start, end)


def blank_markup(text: str) -> str:
    """Replace inline markup and link targets by spaces, character for character.

    >>> blank_markup("a **bold** [link](http://x.y) and `code`, 2*3")
    'a   bold    link              and  code , 2*3'
    """

    def blanked(match: re.Match[str]) -> str:
        """Spaces in place of a match, except for the text of a link."""
        if match.lastgroup is None:
            return " " * len(match[0])
        start, end = match.span("link")
        return " " * (start - match.start()) + match["link"] + " " * (match.end() - end)

    return _INLINE_MARKUP.sub(blanked, text)


def strip_markup(inline: str) -> str:
    """Inline Markdown as plain text.

    >>> strip_markup("The [`read`](http://a.b) *verb*")
    'The read verb'
    """
    tokens = _parser(inline=True).parseInline(inline)[0].children or []
    words = "".join(
        " " if t.type in {"softbreak", "hardbreak"} else t.content for t in tokens if t.type != "html_inline"
    )
    return " ".join(words.split())


@cache
def _parser(inline: bool) -> "MarkdownIt":
    """A parser of inline markup, or of block structure alone: inline markup stays in the text."""
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"maxNesting": 100} if not inline else None)
    return parser if inline else parser.enable("table").disable("inline")


def fields(block: str) -> dict[str, list[str]]:
    r"""Each field with its values: of plain YAML, what documents use.

    >>> fields("title: On 'Rain'\nauthors: [J. Doe, \"R. Roe\"]\ntags:\n  - a\n  - b\ndate: 2019-03-12 # draft")
    {'title': ["On 'Rain'"], 'authors': ['J. Doe', 'R. Roe'], 'tags': ['a', 'b'], 'date': ['2019-03-12']}
    """
    found: dict[str, list[str]] = {}
    values: list[str] | None = None
    for line in block.replace("\r\n", "\n").replace("\r", "\n").split("\n"):
        if match := _FIELD.match(line):
            values = _values(match[2] or "")
            found.setdefault(match[1].lower(), values)
        elif values is not None and (item := _ITEM.match(line)):
            values += _values(item[1])
        elif line.strip() and not line.startswith((" ", "\t")):
            values = None
    return found


def _values(text: str) -> list[str]:
    """One value, or those of a list in brackets."""
    text = text.strip()
    if text.startswith("[") and text.endswith("]"):
        return [value for part in text[1:-1].split(",") for value in _values(part)]
    if text[:1] in {'"', "'"} and text.find(text[0], 1) > 0:
        text = text[1 : text.find(text[0], 1)]
    else:
        text = text.partition(" #")[0].strip()
    return [text] if text and text not in {"|", ">", "|-", ">-", "null", "~"} else []
