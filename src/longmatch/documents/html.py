"""HTML: the page's main text, without menus, banners and other boilerplate."""

import re
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from typing import Literal

from longmatch.documents.decoding import decode, read_bytes
from longmatch.documents.document import Kind
from longmatch.documents.draft import Draft
from longmatch.documents.html_metadata import page_metadata
from longmatch.documents.html_tags import CLOSES, INLINE, VOID, is_skipped, kind_of
from longmatch.documents.paragraph_kinds import is_caption
from longmatch.documents.tables import table_text

_CHARSET = re.compile(rb"""<meta[^>]+charset\s*=\s*["']?\s*([\w-]+)""", re.IGNORECASE)
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
    """A table being read: its rows of cells, and its blocks in case it turns out to be page layout."""

    rows: list[list[str]] = field(default_factory=list)
    blocks: list[_HtmlBlock] = field(default_factory=list)
    is_layout: bool = False

    def add(self, block: _HtmlBlock) -> None:
        """Add a block to the open cell."""
        self.blocks.append(block)
        if block.kind == "heading" or len(block.text) > _MAX_CELL:
            self.is_layout = True
        if not self.rows:
            self.rows.append([])
        if not self.rows[-1]:
            self.rows[-1].append("")
        cell = self.rows[-1][-1]
        self.rows[-1][-1] = f"{cell} {block.text}" if cell else block.text

    def finish(self) -> list[_HtmlBlock]:
        """One table block, one line per row; or the blocks themselves if the table is page layout."""
        captions = [b for b in self.blocks if b.kind == "caption"]
        if self.is_layout or max(map(len, self.rows), default=0) < 2:
            return self.blocks
        return [*captions, _HtmlBlock(table_text(self.rows), "table", main=bool(self.blocks) and self.blocks[0].main)]


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
    """Read a page to its end; after the last `>` no tag can end, so each `<` there is text, and is not tried as one."""
    page, end = Page(), source.rfind(">") + 1
    page.feed(source[:end] + source[end:].replace("<", "&lt;"))
    page.close()
    page.flush()
    while page.tables:
        page.end_table()
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


class Page(HTMLParser):
    """Collects the blocks of a page, tag by tag."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.title = ""
        self.meta: list[tuple[str, str]] = []  # names and contents
        self.blocks: list[_HtmlBlock] = []
        self.tables: list[_Table] = []
        self._open: list[_OpenElement] = []
        self._roles: list[tuple[Role, int]] = []  # of the open elements that set one, innermost last
        self._buffer: list[str] = []
        self._skips = 0  # open elements that are skipped
        self._counts: dict[str, int] = {}  # open elements of each tag

    def parse_marked_section(self, i: int, report: bool = True) -> int:
        """Pass over a section as <![if ...]>; one of an unknown kind is a comment to browsers, an error to Python."""
        try:
            return super().parse_marked_section(i, report)
        except AssertionError:
            return self.parse_bogus_comment(i)

    @property
    def main_title(self) -> str:
        """The title that its meta tags or its <title> state, without the site name that often follows; else that of its
        first top-level heading.
        """
        stated = next((content for name, content in self.meta if name.lower() == "citation_title"), "")
        title = " ".join((stated or self.title).split())
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

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Open an element."""
        values = {name: value or "" for name, value in attrs}
        if tag not in INLINE:
            if self._open and self._open[-1].tag == "p" and tag != "br":
                self._pop()
            while self._open and self._open[-1].tag in CLOSES.get(tag, ()):
                self._pop()
            if tag == "br":
                self._buffer.append("\n")
                return
            if not self._skips:
                self.flush()
        if tag == "meta":
            self.meta.append((values.get("name") or values.get("property") or "", values.get("content", "")))
        if tag in VOID:
            return
        role = _role_of(tag, values)
        element = _OpenElement(tag, is_skipped(tag, values), role is not None)
        if role is not None:
            self._roles.append(role)
        if not self._skips and not element.skipped:
            self._enter(tag, values)
        self._open.append(element)
        self._skips += element.skipped
        self._counts[tag] = self._counts.get(tag, 0) + 1

    def handle_endtag(self, tag: str) -> None:
        """Close an element and any elements left open inside it."""
        if tag == "p" and not self._counts.get("p"):
            self.flush()
        if tag in VOID or not self._counts.get(tag):
            return
        while self._pop() != tag:
            pass

    def handle_data(self, data: str) -> None:
        """Collect text."""
        if self._open and self._open[-1].tag == "title" and not self._counts.get("svg"):
            self.title += data
        elif not self._skips:
            self._buffer.append(data if self._counts.get("pre") else re.sub(r"\s+", " ", data))

    def flush(self) -> None:
        """Finish the current block."""
        text, self._buffer = "".join(self._buffer), []
        if not text.strip():
            return
        kind, level = self._current_role()
        if kind != "heading" and self._counts.get("header") and not self._in_main():
            return  # a site header: only a heading in it may belong to the page
        if kind == "code":
            self._add(_HtmlBlock(text.strip("\n"), kind, main=self._in_main()))
            return
        for part in re.split(r"(?:\s*\n){2,}", text):  # two line breaks end a paragraph
            clean = "\n".join(" ".join(line.split()) for line in part.strip().split("\n"))
            if clean:
                clean = clean.replace("\n", " ") if kind == "heading" else clean
                self._add(_HtmlBlock(clean, kind, level, self._in_main()))

    def end_table(self) -> None:
        """Move the blocks of the innermost table to the enclosing table or the page."""
        blocks = self.tables.pop().finish()
        if self.tables:
            self.tables[-1].is_layout = True
            self.tables[-1].blocks += blocks
        else:
            self.blocks += blocks

    def _enter(self, tag: str, values: dict[str, str]) -> None:
        if tag == "table":
            self.tables.append(_Table(is_layout=values.get("role") in {"presentation", "none"}))
        elif tag == "tr" and self.tables:
            self.tables[-1].rows.append([])
        elif tag in {"td", "th"} and self.tables:
            if not self.tables[-1].rows:
                self.tables[-1].rows.append([])
            self.tables[-1].rows[-1].append("")

    def _pop(self) -> str:
        element = self._open[-1]
        if element.tag not in INLINE and not self._skips:
            self.flush()
        self._open.pop()
        if element.has_role:
            self._roles.pop()
        self._counts[element.tag] -= 1
        if element.tag == "table" and not self._skips and self.tables:
            self.end_table()
        self._skips -= element.skipped
        return element.tag

    def _add(self, block: _HtmlBlock) -> None:
        if self.tables and block.kind != "caption":
            self.tables[-1].add(block)
        elif self.tables:
            self.tables[-1].blocks.append(block)
        else:
            self.blocks.append(block)

    def _in_main(self) -> bool:
        return bool(self._counts.get("main") or self._counts.get("article"))

    def _current_role(self) -> tuple[Role, int]:
        return self._roles[-1] if self._roles else ("text", 1)


def _role_of(tag: str, values: dict[str, str]) -> tuple[Role, int] | None:
    """The role an element gives its text: a heading and its level, or a kind of paragraph."""
    if len(tag) == 2 and tag[0] == "h" and tag[1] in "123456":
        return "heading", int(tag[1])
    kind = kind_of(tag, values)
    return (kind, 1) if kind else None
