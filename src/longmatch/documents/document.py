"""A document and its parts. Every part knows its character span in the document's text."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

Kind = Literal["text", "caption", "footnote", "table", "reference", "code"]

RUNNING_KINDS: frozenset[str] = frozenset({"text", "caption", "footnote", "code"})
"""What models read. Tables and reference lists are kept and shown, but told apart from the running text."""


@dataclass(frozen=True, slots=True)
class Span:
    """Characters start to end (exclusive) of a document's text."""

    start: int
    end: int

    def of(self, text: str) -> str:
        """The characters themselves.

        >>> Span(4, 9).of("the quick fox")
        'quick'
        """
        return text[self.start : self.end]


@dataclass(frozen=True, slots=True)
class Sentence(Span):
    """One sentence."""


@dataclass(frozen=True, slots=True)
class Paragraph(Span):
    """A run of sentences; `kind` tells running text from captions, footnotes, tables and references."""

    sentences: tuple[Sentence, ...] = ()
    kind: Kind = "text"
    page: int | None = None  # counted from 1, where the format has pages


@dataclass(frozen=True, slots=True)
class Section(Span):
    """A heading and what stands under it, up to the next heading of any level."""

    heading: str = ""
    level: int = 1  # 1 is a top-level section
    paragraphs: tuple[Paragraph, ...] = ()


@dataclass(frozen=True)
class Document:
    """A text with its structure. `text` is the file itself for text and Markdown, else what was extracted from it."""

    id: str
    title: str
    text: str
    sections: tuple[Section, ...]
    language: str = "en"
    source: str = ""  # the file it was read from
    metadata: Mapping[str, Any] = field(default_factory=dict)
    plain: str = ""  # the text with its markup blanked, character for character; empty where there is no markup

    @property
    def readable(self) -> str:
        """What models read: the text with markup blanked out. Spans hold in both."""
        return self.plain or self.text

    @cached_property
    def paragraphs(self) -> tuple[Paragraph, ...]:
        """All paragraphs, in order."""
        return tuple(p for section in self.sections for p in section.paragraphs)

    @cached_property
    def running(self) -> tuple[Paragraph, ...]:
        """The paragraphs models read; all of them in a document that holds nothing else than tables and references."""
        return tuple(p for p in self.paragraphs if p.kind in RUNNING_KINDS) or self.paragraphs

    @property
    def sentences(self) -> Iterator[Sentence]:
        """All sentences of the running text, in order."""
        return (s for p in self.running for s in p.sentences)

    def placed_sentences(self) -> Iterator[tuple[Sentence, int, int]]:
        """The sentences of the running text, with the numbers of their running paragraph and of their section."""
        running = {id(paragraph) for paragraph in self.running}
        number = -1
        for home, section in enumerate(self.sections):
            for paragraph in section.paragraphs:
                if id(paragraph) in running:
                    number += 1
                    yield from ((sentence, number, home) for sentence in paragraph.sentences)

    @cached_property
    def words(self) -> int:
        """How many words the document has, all kinds of paragraphs counted (Chinese and Japanese: characters)."""
        from longmatch.documents.language import count_words

        return sum(count_words(p.of(self.text)) for p in self.paragraphs)
