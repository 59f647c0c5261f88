"""HTML: the page's own text, without menus, banners and whatever else stands around it."""

import re
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from typing import Literal

from longmatch.documents.decoding import decode, read_bytes
from longmatch.documents.document import Kind
from longmatch.documents.draft import Draft
from longmatch.documents.html_tags import CLOSES, INLINE, VOID, is_skipped, kind_of
from longmatch.documents.kinds import is_caption

_CHARSET = re.compile(rb"""<meta[^>]+charset\s*=\s*["']?\s*([\w-]+)""", re.IGNORECASE)
_LAYOUT_CELL = 400  # characters in a cell: more than that is a page laid out with a table

Role = Kind | Literal["heading"]


@dataclass
class _Piece:
    """A finished block of text."""

    text: str
    kind: Role
    level: int = 1
    main: bool = False  # inside <main> or <article>


@dataclass
class _Table:
    """A table being read: its rows of cells, and the blocks to give instead should it prove to be mere layout."""

    rows: list[list[str]] = field(default_factory=list)
    pieces: list[_Piece] = field(default_factory=list)
    layout: bool = False

    def add(self, piece: _Piece) -> None:
        """Take a block of the cell that is open."""
        self.pieces.append(piece)
        if piece.kind == "heading" or len(piece.text) > _LAYOUT_CELL:
            self.layout = True
        if not self.rows:
            self.rows.append([])
        if not self.rows[-1]:
            self.rows[-1].append("")
        cell = self.rows[-1][-1]
        self.rows[-1][-1] = f"{cell} {piece.text}" if cell else piece.text

    def finished(self) -> list[_Piece]:
        """One table, a line a row; or the blocks one by one."""
        captions = [p for p in self.pieces if p.kind == "caption"]
        if self.layout or max(map(len, self.rows), default=0) < 2:
            return self.pieces
        rows = [" | ".join(" ".join(cell.split()) for cell in row) for row in self.rows if any(row)]
        return [*captions, _Piece("\n".join(rows), "table", main=bool(self.pieces) and self.pieces[0].main)]


def read_html(path: Path) -> Draft:
    """Read an HTML file."""
    data = read_bytes(path)
    charset = _CHARSET.search(data[:4096])
    return draft_html(decode(data, path, charset[1].decode("ascii") if charset else None))


def draft_html(source: str) -> Draft:
    """Headings, paragraphs, tables and captions of a page.

    >>> draft = draft_html("<title>T</title><nav>Home</nav><h1>Rain</h1><p>It <b>ra</b>ins.<p>Still.")
    >>> draft.document("a").text
    'Rain\\n\\nIt rains.\\n\\nStill.'
    """
    page = _Page()
    page.feed(source)
    page.close()
    page.flush()
    while page.tables:
        page.end_table()
    pieces = page.pieces
    main = [p for p in pieces if p.main]
    if 2 * sum(len(p.text) for p in main) > sum(len(p.text) for p in pieces):
        pieces = main
    draft = Draft(title=_title(" ".join(page.title.split()), pieces))
    for piece in pieces:
        if piece.kind == "heading":
            draft.heading(piece.text, piece.level)
        else:
            draft.paragraph(piece.text, "caption" if piece.kind == "text" and is_caption(piece.text) else piece.kind)
    return draft


def _title(title: str, pieces: list[_Piece]) -> str:
    """What <title> says, less the site's name that often follows; else the first top heading."""
    top = next((p.text for p in pieces if p.kind == "heading" and p.level == 1), "")
    return top if top and title.startswith(top) else title or top


@dataclass
class _Open:
    """An element that is open."""

    tag: str
    skipped: bool
    shows_role: bool


class _Page(HTMLParser):
    """Gathers the blocks of a page, tag by tag."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.title = ""
        self.pieces: list[_Piece] = []
        self.tables: list[_Table] = []
        self._open: list[_Open] = []
        self._roles: list[tuple[Role, int]] = []  # of the elements open that show one, innermost last
        self._buffer: list[str] = []
        self._skips = 0
        self._counts: dict[str, int] = {}  # how many of each tag are open

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
        if tag in VOID:
            return
        role = _role_of(tag, values)
        element = _Open(tag, is_skipped(tag, values), role is not None)
        if role is not None:
            self._roles.append(role)
        if not self._skips and not element.skipped:
            self._enter(tag, values)
        self._open.append(element)
        self._skips += element.skipped
        self._counts[tag] = self._counts.get(tag, 0) + 1

    def handle_endtag(self, tag: str) -> None:
        """Close an element, and whatever in it was left open."""
        if tag == "p" and not self._counts.get("p"):
            self.flush()
        if tag in VOID or not self._counts.get(tag):
            return
        while self._pop() != tag:
            pass

    def handle_data(self, data: str) -> None:
        """Take text."""
        if self._open and self._open[-1].tag == "title" and not self._counts.get("svg"):
            self.title += data
        elif not self._skips:
            self._buffer.append(data if self._counts.get("pre") else re.sub(r"\s+", " ", data))

    def flush(self) -> None:
        """End the block that is being gathered."""
        text, self._buffer = "".join(self._buffer), []
        if not text.strip():
            return
        kind, level = self._current()
        if kind != "heading" and self._counts.get("header") and not self._in_main():
            return  # a site's header: of it only a heading may be the page's own
        if kind == "code":
            self._add(_Piece(text.strip("\n"), kind, main=self._in_main()))
            return
        for part in re.split(r"(?:\s*\n){2,}", text):  # two line breaks stand for a paragraph's end
            clean = "\n".join(" ".join(line.split()) for line in part.strip().split("\n"))
            if clean:
                self._add(
                    _Piece(clean.replace("\n", " ") if kind == "heading" else clean, kind, level, self._in_main())
                )

    def end_table(self) -> None:
        """Give what the innermost table holds to what stands around it."""
        table = self.tables.pop()
        pieces = table.finished()
        if self.tables:
            self.tables[-1].layout = True
            self.tables[-1].pieces += pieces
        else:
            self.pieces += pieces

    def _enter(self, tag: str, values: dict[str, str]) -> None:
        if tag == "table":
            self.tables.append(_Table(layout=values.get("role") in {"presentation", "none"}))
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
        if element.shows_role:
            self._roles.pop()
        self._counts[element.tag] -= 1
        if element.tag == "table" and not self._skips and self.tables:
            self.end_table()
        self._skips -= element.skipped
        return element.tag

    def _add(self, piece: _Piece) -> None:
        if self.tables and piece.kind != "caption":
            self.tables[-1].add(piece)
        elif self.tables:
            self.tables[-1].pieces.append(piece)
        else:
            self.pieces.append(piece)

    def _in_main(self) -> bool:
        return bool(self._counts.get("main") or self._counts.get("article"))

    def _current(self) -> tuple[Role, int]:
        return self._roles[-1] if self._roles else ("text", 1)


def _role_of(tag: str, values: dict[str, str]) -> tuple[Role, int] | None:
    """What an element says of the text in it: a heading of a level, or a kind."""
    if len(tag) == 2 and tag[0] == "h" and tag[1] in "123456":
        return "heading", int(tag[1])
    kind = kind_of(tag, values)
    return (kind, 1) if kind else None
