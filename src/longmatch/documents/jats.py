"""JATS (and NLM) XML, in which journals publish articles: sections, captions, tables, footnotes, references."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element

from longmatch.documents.archive import file_errors, parse_xml
from longmatch.documents.checks import first_bytes
from longmatch.documents.decoding import read_bytes
from longmatch.documents.document import Kind
from longmatch.documents.draft import Draft
from longmatch.documents.metadata import bibliography
from longmatch.documents.paragraph_kinds import table_text
from longmatch.errors import ReadError

_ARTICLE = re.compile(rb"<(?:\w+:)?article[\s>]")
_HEAD = 8_192  # bytes in which the article begins
_SKIPPED_NAMES = """
tex-math alternatives-graphic graphic media object-id label permissions attrib alt-text long-desc sec-meta
processing-meta supplementary-material
"""
_SKIPPED = frozenset(_SKIPPED_NAMES.split())
_BLOCK_NAMES = """
list list-item def-list def-item def term disp-quote boxed-text disp-formula-group statement speech verse-group
fig-group table-wrap-group app app-group ack sec abstract glossary notes bio body back sub-article response floats-group
alternatives fn-group table-wrap-foot array supplement answer question question-wrap p fig table-wrap table fn
ref-list title disp-formula preformat code
"""
_BLOCKS = frozenset(_BLOCK_NAMES.split())
_SEPARATE = frozenset(  # words in a line
    ["p", "title", "break", "mixed-citation", "name", "person-group", "article-title", "source"]
)


def is_other_xml(path: Path) -> bool:
    """Whether a file is XML without an article in its beginning: there is much of it that is no document."""
    if path.suffix.lower() != ".xml":
        return False
    try:
        head = first_bytes(path, _HEAD)
    except ReadError:  # said when it is read
        return False
    return _ARTICLE.search(head.replace(b"\0", b"")) is None and b"JATS" not in head


def read_jats(path: Path) -> Draft:
    """Read an article."""
    data = read_bytes(path)
    with file_errors(path, "is damaged or not XML", "Get a fresh copy, or give it the right file extension."):
        root = parse_xml(data)
        article = root if root.tag == "article" else next(root.iter("article"), None)
        if article is None:
            raise ReadError(path, "is XML, but not an article in JATS", "Convert it to HTML or plain text.")
        meta = article.find("front/article-meta")
        draft = Draft()
        reader = _Reader(draft)
        if meta is not None:
            draft.title = _inline(meta.find("title-group/article-title"))
            draft.metadata = _metadata(article, meta)
            for abstract in meta.findall("abstract"):
                reader.section(abstract, 1, "Abstract")
        for part in ("body", "back", "floats-group", "sub-article", "response"):
            for found in article.findall(part):
                reader.blocks(found, 0)
        return draft


def _metadata(article: Element, meta: Element) -> dict[str, Any]:
    dates = meta.findall("pub-date")
    years = sorted(date.findtext("year") or "" for date in dates)  # online first, then in print
    dois = [id.text or "" for id in meta.findall("article-id") if id.get("pub-id-type") == "doi"]
    journal = article.find("front/journal-meta")
    title = None if journal is None else next(journal.iter("journal-title"), None)
    keywords = [_inline(keyword) for keyword in meta.findall("kwd-group/kwd")]
    facts = {"journal": _inline(title), "volume": meta.findtext("volume") or "", "keywords": "; ".join(keywords)}
    authors: list[str] = []
    for person in meta.iter("contrib"):
        if person.get("contrib-type", "author") != "author":
            continue
        name = next(person.iter("name"), None)
        if name is not None:
            parts = (" ".join((name.findtext(tag) or "").split()) for tag in ("surname", "given-names"))
            authors.append(", ".join(part for part in parts if part))
        else:
            other = person.find("string-name")
            authors.append(_inline(person.find("collab") if other is None else other))
    return bibliography(authors, years, dois, **facts)


class _Reader:
    """Walks an article block by block and appends to a draft."""

    def __init__(self, draft: Draft) -> None:
        self._draft = draft

    def section(self, section: Element, level: int, name: str = "") -> None:
        """A heading and what is below it; `name` is for one without a title."""
        title, label = section.find("title"), section.findtext("label") or ""
        heading = _inline(title) or name
        if heading:
            self._draft.heading(f"{label} {heading}" if label and title is not None else heading, max(1, level))
        self.blocks(section, level, skipped=title)

    def blocks(self, parent: Element, level: int, kind: Kind = "text", skipped: Element | None = None) -> None:
        """The blocks in an element; text beside them is a paragraph."""
        words: list[str] = [parent.text or ""]
        for child in parent:
            if child is skipped or child.tag in _SKIPPED:
                pass
            elif child.tag in _BLOCKS:
                self._paragraph(words, kind)
                words = []
                self._block(child, level, kind)
            else:
                words.append(_inline(child, strip=False))
            words.append(child.tail or "")
        self._paragraph(words, kind)

    def _paragraph(self, words: list[str], kind: Kind) -> None:
        self._draft.paragraph(" ".join("".join(words).split()), kind)

    def _block(self, element: Element, level: int, kind: Kind) -> None:
        tag = element.tag
        if tag in {"sec", "app", "ack", "sub-article", "response", "notes", "glossary", "bio"}:
            self.section(element, level + 1, "Acknowledgements" if tag == "ack" else "")
        elif tag in {"fig", "table-wrap"}:  # caption, table and notes
            label, caption = " ".join((element.findtext("label") or "").split()), element.find("caption")
            texts = [_inline(part) for part in ([] if caption is None else caption) if part.tag in {"title", "p"}]
            words = " ".join(text for text in texts if text) or _inline(caption)
            self._draft.paragraph(f"{label.rstrip('.:')}. {words}" if label and words else words, "caption")
            self.blocks(element, level, skipped=caption)
        elif tag == "table":
            rows = ([_inline(cell) for cell in row if cell.tag in {"td", "th"}] for row in _rows(element))
            self._draft.paragraph(table_text(rows), "table")
        elif tag in {"fn", "fn-group", "table-wrap-foot"}:
            self.blocks(element, level, "footnote")
        elif tag == "ref-list":
            self._references(element, level)
        elif tag in {"preformat", "code"}:
            self._draft.paragraph("".join(element.itertext()), "code")
        else:
            self.blocks(element, level, kind)

    def _references(self, element: Element, level: int) -> None:
        self._draft.heading(_inline(element.find("title")) or "References", level + 1)
        for child in element:
            if child.tag == "ref":
                texts = []
                for part in child:
                    if part.tag in {"element-citation", "nlm-citation"}:  # given in fields, without punctuation
                        texts.append(" ".join(word for text in part.itertext() for word in text.split()))
                    elif part.tag != "label":
                        texts.append(_inline(part))
                self._draft.paragraph(" ".join(texts), "reference")
            elif child.tag == "ref-list":
                self._references(child, level + 1)


def _rows(table: Element) -> Iterator[Element]:
    """The rows of a table, without those of tables in it."""
    for child in table:
        if child.tag == "tr":
            yield child
        elif child.tag in {"thead", "tbody", "tfoot"}:
            yield from child.findall("tr")


def _inline(element: Element | None, strip: bool = True) -> str:
    """The words of an element, without labels and formulas in TeX."""
    text = "" if element is None else "".join(_words(element))
    return " ".join(text.split()) if strip else text


def _words(element: Element) -> Iterator[str]:
    yield element.text or ""
    for child in element:
        if child.tag not in _SKIPPED:
            if child.tag in _SEPARATE:
                yield " "
            yield from _words(child)
        yield child.tail or ""
