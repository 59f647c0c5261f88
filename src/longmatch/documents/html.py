"""HTML: the page's main text, without menus, banners and other boilerplate."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import unescape
from pathlib import Path
from typing import Any, Literal, NamedTuple

from longmatch.documents.decoding import decode, read_bytes
from longmatch.documents.document import Kind
from longmatch.documents.draft import Draft
from longmatch.documents.metadata import bibliography
from longmatch.documents.paragraph_kinds import is_caption, table_text

_TAGS = {
    "void": "area base br col embed hr img input link meta param source track wbr",
    "inline": "a abbr acronym b bdi bdo big cite code data del dfn em font i img ins kbd label mark math mfrac mi mn "
    "mo mrow ms msub msup mtext nobr q rb rp rt ruby s samp semantics small span strike strong sub sup time tt u "
    "var wbr",
    "skipped": "annotation aside audio button canvas del dialog footer iframe menu nav noscript object rp rt script "
    "select style svg template textarea video",
    "kept": "html body main article h1 h2 h3 h4 h5 h6",
}
VOID, INLINE, _SKIPPED, _KEPT = (frozenset(_TAGS[name].split()) for name in ("void", "inline", "skipped", "kept"))

CLOSES: Mapping[str, frozenset[str]] = {  # start tag -> elements it closes implicitly
    "li": frozenset({"li"}),
    "dt": frozenset({"dt", "dd"}),
    "dd": frozenset({"dt", "dd"}),
    "tr": frozenset({"tr", "td", "th"}),
    "td": frozenset({"td", "th"}),
    "th": frozenset({"td", "th"}),
    "tbody": frozenset({"thead", "tbody", "tr", "td", "th"}),
    "body": frozenset({"head"}),
}

_SKIPPED_ROLES = re.compile(
    r"navigation|banner|contentinfo|search|complementary|dialog|alertdialog|menu|menubar|doc-toc|doc-pagelist"
)
_SKIPPED_NAMES = re.compile(  # matched in full: a section about cookies is text
    r"(?>[\w-]*?(?:cookie|consent|gdpr))(?>[\w-]*?(?:banner|bar|notice|popup|modal|overlay|message|dialog|consent))[\w-]*|"
    r"breadcrumbs?|(?:main-?|top-?|site-?)?nav(?:bar|igation)?|sidebar|skip-?(?:link|nav|to-content)|mw-editsection|"
    r"noprint|visually-hidden|sr-only|screen-reader-text|social-(?:links|media|icons|share)|share-(?:buttons|links|bar)|"
    r"newsletter-(?:signup|form|box)|advert(?:isement)?s?|toc|table-of-contents|related-(?:articles|posts|links)",
    re.IGNORECASE,
)
_HIDDEN_STYLE = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
_NAMING = ("class", "role", "epub:type", "id")  # attributes that say what an element is
_NOTES = re.compile(r"footnotes?|endnotes?|rearnotes?|doc-footnote|doc-endnotes?", re.IGNORECASE)
_REFERENCES = re.compile(r"references|reflist|bibliography|doc-bibliography|csl-bib-body", re.IGNORECASE)
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


class Tag(NamedTuple):
    """A start or end tag; `is_empty` is one that XHTML closes at once, as `<p/>`."""

    name: str
    attributes: dict[str, str]
    is_end: bool = False
    is_empty: bool = False


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
    is_layout: bool
    rows: list[list[list[str]]] = field(default_factory=lambda: [[]])  # the texts in each cell


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
    # The stated title, without the site name that often follows it, else the first top-level heading
    stated = next((content for name, content in page.meta if name.lower() == "citation_title"), "")
    title = " ".join((stated or "".join(page.title)).split())
    top = next((b.text for b in page.blocks if b.kind == "heading" and b.level == 1), "")
    draft = Draft(title=top if top and title.startswith(top) else title or top, metadata=page_metadata(page.meta))
    page.add_to(draft)
    return draft


def parse_page(source: str) -> "Page":
    """Read a page to its end."""
    page = Page()
    for token in tokens(source):
        if isinstance(token, str):
            page.text(token)
            continue
        if not token.is_end:
            page.start(token.name, token.attributes)
        if token.is_end or token.is_empty:
            page.end(token.name)
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
        self.title: list[str] = []  # the texts in <title>
        self._tables: list[_Table] = []
        self._open: list[_OpenElement] = []
        self._roles: list[tuple[Role, int]] = []  # of the open elements that set one, innermost last
        self._buffer: list[str] = []
        self._skips = 0  # open elements that are skipped
        self._counts: dict[str, int] = {}  # open elements of each tag

    def add_to(self, draft: Draft) -> None:
        """Append its blocks to a draft."""
        for block in self.blocks:
            if block.kind == "heading":
                draft.heading(block.text, block.level)
            else:
                is_text_caption = block.kind == "text" and is_caption(block.text)
                draft.paragraph(block.text, "caption" if is_text_caption else block.kind)

    def finish(self) -> None:
        """End what is open, once all is read."""
        self._flush()
        while self._tables:
            self._end_table()

    def start(self, tag: str, values: dict[str, str]) -> None:
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
            if tag == "table":
                self._tables.append(_Table(len(self.blocks), values.get("role") in {"presentation", "none"}))
            elif tag == "tr" and self._tables:
                self._tables[-1].rows.append([])
            elif tag in {"td", "th"} and self._tables:
                self._tables[-1].rows[-1].append([])
        self._open.append(element)
        self._skips += element.skipped
        self._counts[tag] = self._counts.get(tag, 0) + 1

    def end(self, tag: str) -> None:
        """Close an element and any elements left open inside it."""
        if tag == "p" and not self._counts.get("p"):
            self._flush()
        if tag in VOID or not self._counts.get(tag):
            return
        while self._pop() != tag:
            pass

    def text(self, text: str) -> None:
        """Collect text."""
        if self._open and self._open[-1].tag == "title" and not self._counts.get("svg"):
            self.title.append(text)
        elif not self._skips:
            self._buffer.append(text if self._counts.get("pre") else _SPACE.sub(" ", text))

    def _flush(self) -> None:
        """Finish the current block."""
        text, self._buffer = "".join(self._buffer), []
        if not text.strip():
            return
        kind, level = self._roles[-1] if self._roles else ("text", 1)
        in_main = bool(self._counts.get("main") or self._counts.get("article"))
        if kind != "heading" and self._counts.get("header") and not in_main:
            return  # a site header: only a heading in it may belong to the page
        parts = [text]
        if kind != "code":  # two line breaks end a paragraph
            parts = "\n".join(" ".join(line.split()) for line in text.split("\n")).split("\n\n")
        for part in filter(None, (part.strip("\n") for part in parts)):
            clean = part.replace("\n", " ") if kind == "heading" else part
            self.blocks.append(_HtmlBlock(clean, kind, level, in_main))
            if self._tables and kind != "caption":
                table = self._tables[-1]
                table.is_layout |= kind == "heading" or len(clean) > _MAX_CELL
                if not table.rows[-1]:
                    table.rows[-1].append([])
                table.rows[-1][-1].append(clean)

    def _end_table(self) -> None:
        """Replace the blocks of the innermost table by one, after its captions, unless it is page layout.

        A table that holds another is page layout.
        """
        table = self._tables.pop()
        if not table.is_layout and max(map(len, table.rows)) >= 2:
            own = self.blocks[table.start :]
            text = table_text((" ".join(cell) for cell in row) for row in table.rows)
            joined = _HtmlBlock(text, "table", main=bool(own) and own[0].main)
            self.blocks[table.start :] = [*(block for block in own if block.kind == "caption"), joined]
        if self._tables:
            self._tables[-1].is_layout = True

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


def is_skipped(tag: str, values: Mapping[str, str]) -> bool:
    """Whether an element is not part of the text: menus, banners, scripts, hidden elements.

    >>> is_skipped("div", {"class": "cookie-banner"}), is_skipped("section", {"id": "cookies"}), is_skipped("nav", {})
    (True, False, True)
    """
    if not values:
        return tag in _SKIPPED
    if "hidden" in values or values.get("aria-hidden") == "true" or _HIDDEN_STYLE.search(values.get("style", "")):
        return True
    if tag in _KEPT or _is_named(_NOTES, values):
        return False
    return (
        tag in _SKIPPED
        or _SKIPPED_ROLES.fullmatch(values.get("role", "")) is not None
        or any(_SKIPPED_NAMES.fullmatch(name) for name in [*values.get("class", "").split(), values.get("id", "")])
    )


def kind_of(tag: str, values: Mapping[str, str]) -> Kind | None:
    """The kind of paragraph an element marks, if any."""
    if tag == "pre":
        return "code"
    if tag in {"figcaption", "caption"}:
        return "caption"
    if tag in INLINE:
        return None
    if _is_named(_NOTES, values):
        return "footnote"
    return "reference" if _is_named(_REFERENCES, values) else None


def _is_named(pattern: re.Pattern[str], values: Mapping[str, str]) -> bool:
    return any(
        pattern.fullmatch(word)
        for name in _NAMING
        if name in values
        for word in ([values[name]] if name == "id" else values[name].split())
    )


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
            given, values, after = markup["attributes"], {}, 0
            for attribute in _ATTRIBUTE.finditer(given) if given else ():
                values[attribute[1].lower()] = plain(attribute[2] or attribute[3] or attribute[4] or "")
                after = attribute.end()
            is_end, is_empty = bool(markup["end"]), given.endswith("/") and after < len(given)
            name = markup["name"].lower()
            yield Tag(name, values, is_end, is_empty)
            if name in _RAW and not is_end and not is_empty:
                closing = _RAW[name].search(source, position)
                position = closing.start() if closing else len(source)
    if position < len(source):
        yield plain(source[position:])


def plain(text: str) -> str:
    """The text with its character references resolved.

    >>> plain("&lt;&#x41;&nbsp;&#999999999999;") == "<A\\xa0\\ufffd"
    True
    """
    return unescape(_HUGE_REFERENCE.sub("\ufffd", text)) if "&" in text else text
