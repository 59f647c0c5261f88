"""Markdown: the document's text is the file itself, and every block points into it."""

import re
from functools import cache
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING

from longmatch.documents.decoding import read_text
from longmatch.documents.document import Kind, Span
from longmatch.documents.draft import Block, Draft
from longmatch.documents.kinds import is_caption
from longmatch.documents.lines import lines_of, trimmed

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

_FRONT = re.compile(r"---[ \t]*(?:\r\n|\r|\n)(.*?)(?:\r\n|\r|\n)(?:---|\.\.\.)[ \t]*(?=\r|\n|\Z)", re.DOTALL)
_FRONT_TITLE = re.compile(r"^title[ \t]*:[ \t]*(.+?)[ \t]*$", re.MULTILINE | re.IGNORECASE)
_MARKERS = re.compile(r"(?:[ \t]|>|[-*+](?=[ \t])|\d{1,9}[.)](?=[ \t])|#{1,6}(?=[ \t]))*")
_FOOTNOTE = re.compile(r"\[\^[^\]]+\]:")
_MARKS = re.compile(
    r"""!?\[(?P<link>[^\[\]\n]{1,400})\](?:\([^()\s]{0,800}(?:[ ]"[^"\n]{0,200}")?\)|\[[^\[\]\n]{0,100}\])
    | \[\^[^\]\s]{1,40}\]                                 # a footnote's mark
    | (?<![\w*_])[*_]{1,3}(?=[^\s*_]) | (?<=[^\s*_])[*_]{1,3}(?![\w*_])
    | `+
    | </?[a-zA-Z][^<>\n]{0,200}>""",
    re.VERBOSE,
)
_TAG = re.compile(r"<!--.*?-->|<(script|style)\b.*?</\1\s*>|<[^>]*>", re.DOTALL | re.IGNORECASE)


def read_markdown(path: Path) -> Draft:
    """Read a Markdown file."""
    return draft_markdown(read_text(path))


def draft_markdown(text: str) -> Draft:
    """Headings, paragraphs (each list item one), code and tables of a Markdown text.

    >>> draft = draft_markdown("# A *fine* title\\n\\nFirst.\\n\\n- one\\n- two\\n")
    >>> draft.title, [(b.kind, b.of(draft.text)) for b in draft.blocks]
    ('A fine title', [('heading', 'A *fine* title'), ('text', 'First.'), ('text', 'one'), ('text', 'two')])
    """
    draft = Draft(text=text, plain=blank_marks(text))
    body = text
    if front := _FRONT.match(text):  # blanked, so that line numbers stay
        body = re.sub(r"[^\r\n]", " ", front[0]) + text[front.end() :]
        if found := _FRONT_TITLE.search(front[1].replace("\r", "\n")):
            draft.title = found[1].strip("\"'")
    lines = list(lines_of(text))
    tokens = _blocks_parser().parse(body)
    for token, content in zip_longest(tokens, tokens[1:]):
        block = _block(text, lines, token, content)
        if block is not None and block.end > block.start:
            draft.blocks.append(block)
    if not draft.title:
        first = next((b for b in draft.blocks if b.kind == "heading"), None)
        draft.title = first.label if first is not None and (first.level == 1 or first is draft.blocks[0]) else ""
    return draft


def _block(text: str, lines: list[Span], token: "Token", content: "Token | None") -> Block | None:
    if token.map is None:
        return None
    first, last = token.map[0], min(token.map[1], len(lines))
    if token.type in {"heading_open", "paragraph_open"}:
        assert content is not None
        span = _content_span(text, lines[first:last], content.content)
        if token.type == "heading_open":
            return Block(span.start, span.end, "heading", int(token.tag[1]), label=plain(content.content))
        return Block(span.start, span.end, _kind(content.content))
    whole = trimmed(text, lines[first].start, lines[last - 1].end) if last > first else Span(0, 0)
    if token.type in {"fence", "code_block"}:
        if token.type == "fence" and last - first > 1:
            closed = lines[last - 1].of(text).strip(" \t>").startswith(token.markup)
            whole = trimmed(text, lines[first + 1].start, lines[last - 1 - closed].end)
        return Block(whole.start, whole.end, "code") if token.content.strip() else None
    if token.type == "table_open":
        return Block(whole.start, whole.end, "table")
    if token.type == "html_block" and _TAG.sub("", token.content).strip():
        return Block(whole.start, whole.end)
    return None


def _kind(content: str) -> Kind:
    if _FOOTNOTE.match(content):
        return "footnote"
    return "caption" if is_caption(content.lstrip("*_")) else "text"


def _content_span(text: str, lines: list[Span], content: str) -> Span:
    """Where a block's content stands: without the heading's #, the item's bullet, the setext underline."""
    pieces = content.split("\n")
    head, tail = lines[0], lines[min(len(pieces), len(lines)) - 1]
    start = text.find(pieces[0], head.start, head.end)
    if start < 0:  # tabs were turned into spaces
        found = _MARKERS.match(text, head.start, head.end)
        start = found.end() if found else head.start
    end = start + len(pieces[0]) if tail is head and text.startswith(pieces[0], start) else tail.end
    return trimmed(text, start, end)


def blank_marks(text: str) -> str:
    """The text with inline marks and link targets turned into spaces, character for character.

    >>> blank_marks("a **bold** [link](http://x.y) and `code`, 2*3")
    'a   bold    link              and  code , 2*3'
    """
    return _MARKS.sub(lambda found: _spaces(found, found.lastgroup), text)


def _spaces(found: re.Match[str], kept: str | None) -> str:
    if kept is None:
        return " " * len(found[0])
    start, end = found.start(kept) - found.start(), found.end(kept) - found.start()
    return " " * start + found[kept] + " " * (len(found[0]) - end)


def plain(inline: str) -> str:
    """Inline Markdown without its marks.

    >>> plain("The [`read`](http://a.b) *verb*")
    'The read verb'
    """
    tokens = _inline_parser().parseInline(inline)[0].children or []
    words = "".join(
        " " if t.type in {"softbreak", "hardbreak"} else t.content for t in tokens if t.type != "html_inline"
    )
    return " ".join(words.split())


@cache
def _blocks_parser() -> "MarkdownIt":
    from markdown_it import MarkdownIt

    return (
        MarkdownIt("commonmark", {"maxNesting": 100}).enable("table").disable("inline")
    )  # inline marks stay in the text: no need to parse


@cache
def _inline_parser() -> "MarkdownIt":
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark")
