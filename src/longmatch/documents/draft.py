"""What a reader produces: text and blocks. `Draft.document` turns it into a Document with sentences."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Literal, cast

from longmatch.documents.characters import whole, whole_values
from longmatch.documents.document import Document, Kind, Paragraph, Section, Span
from longmatch.documents.language import detect_language
from longmatch.documents.numbered_paragraphs import divide_sections
from longmatch.documents.paragraph_kinds import is_reference_heading
from longmatch.documents.sentences import split_sentences


@dataclass(frozen=True, slots=True)
class Block(Span):
    """A heading or a paragraph found by a reader."""

    kind: Kind | Literal["heading"] = "text"
    level: int = 1  # of a heading
    page: int | None = None
    label: str = ""  # of a heading whose characters include markup: its text without it


@dataclass
class Draft:
    """A document before sentence splitting.

    Readers of plain formats set `text` to the file itself and point blocks into it. Readers of rich formats build
    the text incrementally with `heading` and `paragraph`.

    >>> draft = Draft()
    >>> draft.heading("1 Introduction")
    >>> draft.paragraph("We match documents. They are long.")
    >>> document = draft.document("a")
    >>> [(s.heading, len(s.paragraphs[0].sentences)) for s in document.sections]
    [('1 Introduction', 2)]
    """

    text: str = ""
    blocks: list[Block] = field(default_factory=list)
    title: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    plain: str = ""  # the text with markup blanked, character for character; empty if the format has no markup
    page_breaks: list[tuple[int, int]] = field(default_factory=list)  # as of a Document
    remarks: list[str] = field(default_factory=list)  # sentences on what could not be read, or not surely
    _parts: list[str] = field(default_factory=list, repr=False)
    _length: int = field(default=0, repr=False)

    def heading(self, text: str, level: int = 1, page: int | None = None) -> None:
        """Append a heading."""
        self._append(text, "heading", level, page)

    def paragraph(
        self, text: str, kind: Kind = "text", page: int | None = None, breaks: Sequence[tuple[int, int]] = ()
    ) -> None:
        """Append a paragraph; `breaks` says where in it further pages begin: character of `text`, page."""
        before = len(self.blocks)
        self._append(text, kind, 1, page)
        if breaks and len(self.blocks) > before:
            start = self.blocks[-1].start - (len(text) - len(text.lstrip()))
            self.page_breaks += [(start + place, number) for place, number in breaks]

    def extend(self, other: "Draft") -> None:
        """Append the blocks of another draft."""
        text = other.text or "".join(other._parts)
        for block in other.blocks:
            self._append(block.of(text), block.kind, block.level, block.page)

    def _append(self, text: str, kind: Kind | Literal["heading"], level: int, page: int | None) -> None:
        text = text.strip()
        if not text:
            return
        if self._parts:
            self._parts.append("\n\n")
            self._length += 2
        self.blocks.append(Block(self._length, self._length + len(text), kind, level, page))
        self._parts.append(text)
        self._length += len(text)

    def document(self, id: str, title: str = "", source: str = "", given_sections: bool = False) -> Document:
        """Split the blocks into sentences and group them under their headings.

        The title defaults to the draft's own, then to the first heading, then to `id`. Long sections of numbered
        paragraphs are divided, unless the file itself says what its sections are (`given_sections`).
        """
        if self._parts:
            self.text = "".join(self._parts)
        self.text, self.plain, id = whole(self.text), whole(self.plain), whole(id)
        language = detect_language(self.text)
        sections = tuple(_sections(self.text, self.plain or self.text, self.blocks, language))
        fallback = next((s.heading for s in sections if s.heading), id)
        if not given_sections:
            sections = tuple(divide_sections(sections, self.plain or self.text))
        name, metadata = whole(title or self.title or fallback), whole_values(self.metadata)
        breaks, remarks = tuple(self.page_breaks), tuple(self.remarks)
        return Document(id, name, self.text, sections, language, source, metadata, self.plain, breaks, remarks)


def _sections(text: str, plain: str, blocks: list[Block], language: str) -> Iterable[Section]:
    if not blocks:
        return
    headings = [i for i, block in enumerate(blocks) if block.kind == "heading"]
    starts = headings if headings[:1] == [0] else [0, *headings]  # text before the first heading is a section too
    for first, last in pairwise([*starts, len(blocks)]):
        heading = blocks[first] if blocks[first].kind == "heading" else None
        body = blocks[first + 1 : last] if heading else blocks[first:last]
        name = " ".join((heading.label or heading.of(text)).split()) if heading else ""
        in_references = is_reference_heading(name)
        paragraphs = tuple(_paragraph(plain, block, language, in_references) for block in body)
        yield Section(blocks[first].start, blocks[last - 1].end, name, heading.level if heading else 1, paragraphs)


def _paragraph(text: str, block: Block, language: str, in_references: bool) -> Paragraph:
    sentences = tuple(split_sentences(text, block, language))
    kind = "reference" if in_references and block.kind == "text" else cast(Kind, block.kind)
    return Paragraph(block.start, block.end, sentences, kind, block.page)
