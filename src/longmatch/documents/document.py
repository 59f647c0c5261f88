"""A document and its parts. Every part knows its character span in the document's text."""

import json
import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import blake2b
from html import escape
from typing import Any, Literal, overload

Kind = Literal["text", "caption", "footnote", "table", "reference", "code"]

RUNNING_KINDS: frozenset[str] = frozenset({"text", "caption", "footnote", "code"})
"""Kinds of paragraphs that models read. Tables and reference lists are kept and displayed, but not scored."""
_MOST_HEADINGS = 12  # that a notebook shows
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n|\Z)")


@dataclass(frozen=True, slots=True)
class Span:
    """The characters `start` to `end` (exclusive) of a document's text."""

    start: int
    end: int

    def of(self, text: str) -> str:
        """Return the characters of the span.

        >>> Span(4, 9).of("the quick fox")
        'quick'
        """
        return text[self.start : self.end]


@dataclass(frozen=True, slots=True)
class Sentence(Span):
    """One sentence."""


@dataclass(frozen=True, slots=True)
class Paragraph(Span):
    """A run of sentences; `kind` separates running text from captions, footnotes, tables and references."""

    sentences: tuple[Sentence, ...] = ()
    kind: Kind = "text"
    page: int | None = None  # from 1, where the format has pages


@dataclass(frozen=True, slots=True)
class Section(Span):
    """A heading and the paragraphs below it, up to the next heading of any level."""

    heading: str = ""
    level: int = 1  # 1 is a top-level section
    paragraphs: tuple[Paragraph, ...] = ()


class RestoredSections(Sequence[Section]):
    """The sections of a stored document, restored when they are first asked for.

    What passages are shown with is known before: `headings`, and of the paragraphs `starts` and `pages`, 0 for none.
    """

    def __init__(
        self,
        headings: Sequence[str],
        starts: Sequence[int],
        pages: Sequence[int],
        restore: Callable[[], tuple[Section, ...]],
    ) -> None:
        self.headings, self.starts, self.pages, self._restore = headings, starts, pages, restore

    @cached_property
    def _sections(self) -> tuple[Section, ...]:
        return self._restore()

    def __len__(self) -> int:
        return len(self.headings)

    @overload
    def __getitem__(self, index: int, /) -> Section: ...
    @overload
    def __getitem__(self, index: slice, /) -> tuple[Section, ...]: ...
    def __getitem__(self, index: int | slice, /) -> Section | tuple[Section, ...]:
        return self._sections[index]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and self._sections == tuple(other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return repr(self._sections)

    def __reduce__(self) -> tuple[Any, ...]:
        """As a tuple, for other processes."""
        return tuple, (list(self._sections),)


@dataclass(frozen=True)
class Document:
    """A text with its structure. `text` is the file itself for plain text and Markdown, else the extracted text."""

    id: str
    title: str
    text: str
    sections: Sequence[Section]
    language: str = "en"
    source: str = ""  # the file it was read from
    metadata: Mapping[str, Any] = field(default_factory=dict)
    plain: str = ""  # the text with markup blanked, character for character; empty if the format has no markup
    page_breaks: tuple[tuple[int, int], ...] = ()  # where paragraphs run on to another page: first character, page
    remarks: tuple[str, ...] = field(default=(), compare=False)  # sentences on what its reader left out, or doubts

    def __repr__(self) -> str:
        """In one line, without the text."""
        sizes = f"{len(self.sections):,} sections, {len(self.text):,} characters"
        return f"<Document {brief(self.id)!r}: {brief(self.title, 80)!r}, {sizes}, {brief(self.language, 10)}>"

    def _repr_html_(self) -> str:
        """Title, size and headings."""
        sizes = f"{self.words:,} words, {len(self.sections):,} sections, {self.language}"
        headings = [brief(section.heading, 100) for section in self.sections if section.heading.strip()]
        items = "".join(f"<li>{escape(heading)}</li>" for heading in headings[:_MOST_HEADINGS])
        rest = len(headings) - _MOST_HEADINGS
        outline = f"<ul>{items}{f'<li>… {rest:,} more</li>' if rest > 0 else ''}</ul>" if items else ""
        return f"<div><b>{escape(brief(self.title, 200))}</b><br>{escape(self.id)}, {escape(sizes)}{outline}</div>"

    @property
    def readable(self) -> str:
        """The text models read, with markup blanked out. Spans are valid in both."""
        return self.plain or self.text

    @cached_property
    def paragraphs(self) -> tuple[Paragraph, ...]:
        """All paragraphs, in order."""
        return tuple(p for section in self.sections for p in section.paragraphs)

    @cached_property
    def running(self) -> tuple[Paragraph, ...]:
        """The paragraphs models read; all paragraphs if the document has only tables and references."""
        return tuple(p for p in self.paragraphs if p.kind in RUNNING_KINDS) or self.paragraphs

    def page_at(self, place: int) -> int | None:
        """The page on which a character stands, from 1; None where the format has no pages."""
        starts, pages = self._paragraph_pages
        number = bisect_right(starts, place) - 1
        own = int(pages[number]) if number >= 0 else 0
        if not own:
            return None
        earlier = bisect_right(self.page_breaks, place, key=lambda start_and_page: start_and_page[0])
        start, page = self.page_breaks[earlier - 1] if earlier else (-1, 0)
        return page if start > starts[number] else own

    @cached_property
    def _paragraph_pages(self) -> tuple[Sequence[int], Sequence[int]]:
        """Where each paragraph begins, and its page, 0 for none."""
        if isinstance(self.sections, RestoredSections):
            return self.sections.starts, self.sections.pages
        return [p.start for p in self.paragraphs], [p.page or 0 for p in self.paragraphs]

    def heading(self, section: int) -> str:
        """The heading of a section, by its number."""
        known = self.sections
        return known.headings[section] if isinstance(known, RestoredSections) else known[section].heading

    @property
    def sentences(self) -> Iterator[Sentence]:
        """All sentences of the running text, in order."""
        return (s for p in self.running for s in p.sentences)

    def indexed_sentences(self) -> Iterator[tuple[Sentence, int, int]]:
        """Each sentence of the running text with the index of its running paragraph and of its section."""
        running = {id(paragraph) for paragraph in self.running}
        paragraph_index = -1
        for section_index, section in enumerate(self.sections):
            for paragraph in section.paragraphs:
                if id(paragraph) in running:
                    paragraph_index += 1
                    yield from ((sentence, paragraph_index, section_index) for sentence in paragraph.sentences)

    @cached_property
    def words(self) -> int:
        """Number of words in paragraphs of every kind (Chinese and Japanese: characters)."""
        from longmatch.documents.language import count_words

        return sum(count_words(part) for p in self.paragraphs for part in _slices(p.of(self.text)))


def _slices(text: str, size: int = 1 << 18) -> Iterator[str]:
    """The text in parts of at most `size` characters, cut before a space: other threads wait while one is looked at.

    >>> list(_slices("one two three", 8))
    ['one two', ' three']
    """
    start = 0
    while start < len(text):
        end = start + size
        if end < len(text):
            cut = text.rfind(" ", start + 1, end)
            end = cut if cut > 0 else end
        yield text[start:end]
        start = end


def content_hash(document: Document) -> str:
    """Hash of text, structure and metadata, whatever the document's id and source."""
    sections = [(s.start, s.end, s.heading, s.level) for s in document.sections]
    header = [document.title, document.language, sections, dict(document.metadata)]
    digest = blake2b(json.dumps(header, sort_keys=True, default=str).encode("utf-8", "surrogatepass"), digest_size=16)
    for text in (document.text, document.plain):
        digest.update(b"\0" + text.encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


def brief(text: str, width: int = 60) -> str:
    """The beginning of a text on one line, at most `width` characters.

    >>> brief("The bank\\nfailed."), brief("The bank failed on Monday.", 12)
    ('The bank failed.', 'The bank fa…')
    """
    line = " ".join(text[: 4 * width].split())  # runs of spaces count once
    is_cut = len(line) > width or bool(text[4 * width :].strip())
    return f"{line[: width - 1].rstrip()}…" if is_cut else line


def line_spans(text: str) -> Iterator[Span]:
    r"""The lines without their line breaks; only \n, \r\n and \r end a line.

    >>> [line.of("a\r\n\nb") for line in line_spans("a\r\n\nb")]
    ['a', '', 'b']
    """
    position = 0
    while position < len(text):
        match = _LINE.match(text, position)
        assert match is not None
        yield Span(position, position + len(match[0].rstrip("\r\n")))
        position = match.end()


def strip_span(text: str, start: int, end: int) -> Span:
    """The span of text[start:end] without leading and trailing white space.

    >>> strip_span("  ab ", 0, 5)
    Span(start=2, end=4)
    """
    raw = text[start:end]
    start += len(raw) - len(raw.lstrip())
    return Span(start, start + len(raw.strip()))
