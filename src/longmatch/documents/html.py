"""HTML: the page's main text, without menus, banners and other boilerplate."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from longmatch.documents.decoding import decode, read_bytes
from longmatch.documents.document import Kind
from longmatch.documents.draft import Draft
from longmatch.documents.html_tags import CLOSES, INLINE, VOID, Tag, is_skipped, kind_of, tokens
from longmatch.documents.metadata import bibliography
from longmatch.documents.paragraph_kinds import is_caption, table_text

_AUTHORS = (  # the first that a page has, in lower case
    ("citation_author", "citation_authors"),
    ("dc.creator", "dcterms.creator", "dc.contributor.author"),
    ("article:author", "author", "parsely-author"),
)
_DATES = (
    *("citation_publication_date", "citation_date", "citation_year", "citation_online_date", "prism.publicationdate"),
    *("dcterms.issued", "dc.date.issued", "dc.date", "dcterms.date", "dc.date.created", "dcterms.created"),
    *("article:published_time", "og:published_time", "datepublished", "parsely-pub-date", "date"),
)
_DOIS = ("citation_doi", "prism.doi", "dc.identifier.doi", "doi", "dc.identifier", "dcterms.identifier")
_CHARSET = re.compile(rb"""<meta[^<>]+charset\s*+=\s*+["']?\s*+([\w-]+)""", re.IGNORECASE)
_SPACE = re.compile(r"\s+")
_MAX_CELL = 400  # characters: a table with a longer cell is page layout

Role = Kind | Literal["heading"]


@dataclass
class _HtmlBlock:
    """A finished block of text."""

    text: str
    kind: Role
    level: int = 1
    main: bool = False  # inside <main> or <article>


@dataclass
class _Table:
    """A table being read. Its blocks are those of the page from `start` on, where it turns out to be page layout."""

    start: int
    rows: list[list[list[str]]] = field(default_factory=list)  # the texts in each cell
    is_layout: bool = False

    def add(self, block: _HtmlBlock) -> None:
        """Add a block to the open cell."""
        if block.kind == "heading" or len(block.text) > _MAX_CELL:
            self.is_layout = True
        if not self.rows:
            self.rows.append([])
        if not self.rows[-1]:
            self.rows[-1].append([])
        self.rows[-1][-1].append(block.text)

    def finish(self, blocks: list[_HtmlBlock]) -> None:
        """Replace its blocks by one, with a line per row, after its captions; not if it is page layout."""
        if self.is_layout or max(map(len, self.rows), default=0) < 2:
            return
        own = blocks[self.start :]
        text = table_text((" ".join(cell) for cell in row) for row in self.rows)
        table = _HtmlBlock(text, "table", main=bool(own) and own[0].main)
        blocks[self.start :] = [*(block for block in own if block.kind == "caption"), table]


def read_html(path: Path) -> Draft:
    """Read an HTML file."""
    return draft_html(decode_html(read_bytes(path), path))


def decode_html(data: bytes, path: object) -> str:
    """Decode a page by the encoding it declares; `path` names it in error messages."""
    charset = _CHARSET.search(data[:4096])
    return decode(data, path, charset[1].decode("ascii") if charset else None)


def draft_html(source: str) -> Draft:
    """Headings, paragraphs, tables and captions of a page.

    >>> draft = draft_html("<title>T</title><nav>Home</nav><h1>Rain</h1><p>It <b>ra</b>ins.<p>Still.")
    >>> draft.document("a").text
    'Rain\\n\\nIt rains.\\n\\nStill.'
    """
    page = parse_page(source)
    draft = Draft(title=page.main_title, metadata=page_metadata(page.meta))
    page.add_to(draft)
    return draft


def parse_page(source: str) -> "Page":
    """Read a page to its end."""
    page = Page()
    for token in tokens(source):
        page.take(token)
    page.finish()
    main = [b for b in page.blocks if b.main]
    if 2 * sum(len(b.text) for b in main) > sum(len(b.text) for b in page.blocks):
        page.blocks = main
    return page


@dataclass
class _OpenElement:
    """An element whose end tag has not been seen."""

    tag: str
    skipped: bool
    has_role: bool


class Page:
    """Collects the blocks of a page, tag by tag."""

    def __init__(self) -> None:
        self.meta: list[tuple[str, str]] = []  # names and contents
        self.blocks: list[_HtmlBlock] = []
        self._title: list[str] = []
        self._tables: list[_Table] = []
        self._open: list[_OpenElement] = []
        self._roles: list[tuple[Role, int]] = []  # of the open elements that set one, innermost last
        self._buffer: list[str] = []
        self._skips = 0  # open elements that are skipped
        self._counts: dict[str, int] = {}  # open elements of each tag

    @property
    def main_title(self) -> str:
        """The title that its meta tags or its <title> state, without the site name that often follows; else that of its
        first top-level heading.
        """
        stated = next((content for name, content in self.meta if name.lower() == "citation_title"), "")
        title = " ".join((stated or "".join(self._title)).split())
        top = next((b.text for b in self.blocks if b.kind == "heading" and b.level == 1), "")
        return top if top and title.startswith(top) else title or top

    def add_to(self, draft: Draft) -> None:
        """Append its blocks to a draft."""
        for block in self.blocks:
            if block.kind == "heading":
                draft.heading(block.text, block.level)
            else:
                is_text_caption = block.kind == "text" and is_caption(block.text)
                draft.paragraph(block.text, "caption" if is_text_caption else block.kind)

    def take(self, token: Tag | str) -> None:
        """Read a tag or a text."""
        if isinstance(token, str):
            self._text(token)
            return
        if not token.is_end:
            self._start(token.name, token.attributes)
        if token.is_end or token.is_empty:
            self._end(token.name)

    def finish(self) -> None:
        """End what is open, once all is read."""
        self._flush()
        while self._tables:
            self._end_table()

    def _start(self, tag: str, values: dict[str, str]) -> None:
        """Open an element."""
        if tag not in INLINE:
            if self._open and self._open[-1].tag == "p" and tag != "br":
                self._pop()
            while self._open and self._open[-1].tag in CLOSES.get(tag, ()):
                self._pop()
            if tag == "br":
                self._buffer.append("\n")
                return
            if not self._skips:
                self._flush()
        if tag == "meta":
            self.meta.append((values.get("name") or values.get("property") or "", values.get("content", "")))
        if tag in VOID:
            return
        is_heading = len(tag) == 2 and tag[0] == "h" and tag[1] in "123456"
        kind: Role | None = "heading" if is_heading else kind_of(tag, values)
        element = _OpenElement(tag, is_skipped(tag, values), kind is not None)
        if kind is not None:
            self._roles.append((kind, int(tag[1]) if is_heading else 1))
        if not self._skips and not element.skipped:
            self._enter(tag, values)
        self._open.append(element)
        self._skips += element.skipped
        self._counts[tag] = self._counts.get(tag, 0) + 1

    def _end(self, tag: str) -> None:
        """Close an element and any elements left open inside it."""
        if tag == "p" and not self._counts.get("p"):
            self._flush()
        if tag in VOID or not self._counts.get(tag):
            return
        while self._pop() != tag:
            pass

    def _text(self, text: str) -> None:
        """Collect text."""
        if self._open and self._open[-1].tag == "title" and not self._counts.get("svg"):
            self._title.append(text)
        elif not self._skips:
            self._buffer.append(text if self._counts.get("pre") else _SPACE.sub(" ", text))

    def _flush(self) -> None:
        """Finish the current block."""
        text, self._buffer = "".join(self._buffer), []
        if not text.strip():
            return
        kind, level = self._roles[-1] if self._roles else ("text", 1)
        if kind != "heading" and self._counts.get("header") and not self._in_main():
            return  # a site header: only a heading in it may belong to the page
        if kind == "code":
            self._add(_HtmlBlock(text.strip("\n"), kind, main=self._in_main()))
            return
        lines = "\n".join(" ".join(line.split()) for line in text.split("\n"))
        for part in lines.split("\n\n"):  # two line breaks end a paragraph
            if clean := part.strip("\n"):
                clean = clean.replace("\n", " ") if kind == "heading" else clean
                self._add(_HtmlBlock(clean, kind, level, self._in_main()))

    def _end_table(self) -> None:
        """Close the innermost table; one that holds another is page layout."""
        self._tables.pop().finish(self.blocks)
        if self._tables:
            self._tables[-1].is_layout = True

    def _enter(self, tag: str, values: dict[str, str]) -> None:
        if tag == "table":
            self._tables.append(_Table(len(self.blocks), is_layout=values.get("role") in {"presentation", "none"}))
        elif tag == "tr" and self._tables:
            self._tables[-1].rows.append([])
        elif tag in {"td", "th"} and self._tables:
            if not self._tables[-1].rows:
                self._tables[-1].rows.append([])
            self._tables[-1].rows[-1].append([])

    def _pop(self) -> str:
        element = self._open[-1]
        if element.tag not in INLINE and not self._skips:
            self._flush()
        self._open.pop()
        if element.has_role:
            self._roles.pop()
        self._counts[element.tag] -= 1
        if element.tag == "table" and not self._skips and self._tables:
            self._end_table()
        self._skips -= element.skipped
        return element.tag

    def _add(self, block: _HtmlBlock) -> None:
        self.blocks.append(block)
        if self._tables and block.kind != "caption":
            self._tables[-1].add(block)

    def _in_main(self) -> bool:
        return bool(self._counts.get("main") or self._counts.get("article"))


def page_metadata(meta: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """Author, year and DOI from the names and contents of meta tags.

    >>> page_metadata([("citation_author", "Doe, Jane"), ("author", "Site"), ("DC.Date", "2019-03-12")])
    {'author': 'Doe, Jane', 'year': 2019}
    """
    stated: dict[str, list[str]] = {}
    for name, content in meta:
        stated.setdefault(name.lower(), []).append(content)

    def contents(names: Sequence[str]) -> list[str]:
        return [content for name in names for content in stated.get(name, ())]

    authors = next((found for names in _AUTHORS if (found := contents(names))), [])
    return bibliography(authors, contents(_DATES), contents(_DOIS))
