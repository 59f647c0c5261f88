"""The documents of a data folder, numbered in file order, unreadable ones included.

Their sections can be shuffled, for CoLDE's study of perturbed texts (section 4.4.3).
"""

import random
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from longmatch.documents.document import Document, Paragraph, Section
from longmatch.documents.jsonl import parse_line
from longmatch.documents.language import count_words
from longmatch.errors import ReadError
from longmatch.lab.datasets.collection import DataFolder
from longmatch.lab.datasets.prepared import documents_digest, require_text
from longmatch.lab.datasets.records import iterate_lines
from longmatch.lab.store.documents import DocumentSource
from longmatch.lab.store.layer import Unreadable
from longmatch.parallel import parallel_map

SHUFFLED = "-shuffled"  # suffix of the name of a set with shuffled sections
GAP = "\n\n"  # between shuffled sections


class Corpus:
    """The documents of a data folder: streamed, with ids, numbers and lengths kept in memory.

    `shuffle` is the seed of a random order of each document's sections; None keeps their order.
    """

    def __init__(self, folder: DataFolder, shuffle: int | None = None) -> None:
        self.folder, self.shuffle = folder, shuffle
        self.ids = folder.ids
        self.number = {id: i for i, id in enumerate(self.ids)}

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def name(self) -> str:
        """The set's name in tables."""
        return self.folder.name + ("" if self.shuffle is None else SHUFFLED)

    @cached_property
    def order(self) -> npt.NDArray[np.int64]:
        """The rank of each document's id in sorted order, which breaks ties between scores."""
        order = np.empty(len(self), dtype=np.int64)
        order[np.argsort(np.array(self.ids, dtype=object), kind="stable")] = np.arange(len(self))
        return order

    @cached_property
    def titles(self) -> list[str]:
        """Each document's title, empty if it has none."""
        return [record.title for record in self.folder.records()]

    @cached_property
    def fingerprint(self) -> str:
        """Changes when the documents do."""
        digest = documents_digest(self.folder.documents_file)[:16]
        return digest if self.shuffle is None else f"{digest}-{self.shuffle}"

    @property
    def source(self) -> DocumentSource["_Line"]:
        """The documents for a store of what is derived from them."""
        name = self.folder.path.resolve().name  # sets that differ in their pairs alone share what is computed
        return DocumentSource(name + ("" if self.shuffle is None else SHUFFLED), self.fingerprint, self._lines, _read)

    def words(self, ids: Iterable[str]) -> dict[str, int]:
        """The lengths of these documents in words (for Chinese and Japanese: in characters)."""
        return {id: self._words[id] for id in dict.fromkeys(ids)}

    @cached_property
    def _words(self) -> dict[str, int]:
        return {r.id: sum(count_words(part.text) for part in r.parts) for r in self.folder.records()}

    def documents(self, ids: Iterable[str]) -> dict[str, Document]:
        """The documents with these ids, by id; unreadable ones are left out."""
        wanted = set(ids)
        every = parallel_map(_read, self._lines())
        return {d.id: d for d in every if isinstance(d, Document) and d.id in wanted}

    def _lines(self) -> Iterator["_Line"]:
        path = self.folder.documents_file
        require_text(path)
        lines = ((number, line) for number, line in iterate_lines(path) if line.strip())
        for id, (number, line) in zip(self.ids, lines, strict=True):
            yield _Line(id, number, line, path, self.shuffle)


class _Line(NamedTuple):
    """A document before it is read: a line of the documents file."""

    id: str
    number: int
    text: str
    path: Path
    shuffle: int | None


def _read(line: _Line) -> Document | Unreadable:
    try:
        document = parse_line(line.text.encode(), line.path, line.number)
    except ReadError as error:
        return Unreadable(line.id, str(error))
    assert document is not None
    return document if line.shuffle is None else shuffle_sections(document, line.shuffle)


def shuffle_sections(document: Document, seed: int) -> Document:
    """The document with its sections in random order, drawn from the seed and its id; all spans are adjusted.

    >>> from longmatch.documents.draft import Draft
    >>> draft = Draft()
    >>> for heading in "ABC":
    ...     draft.heading(heading)
    ...     draft.paragraph(f"Text of {heading}.")
    >>> shuffled = shuffle_sections(draft.document("d"), seed=4)
    >>> [(s.heading, s.paragraphs[0].of(shuffled.text)) for s in shuffled.sections]
    [('C', 'Text of C.'), ('A', 'Text of A.'), ('B', 'Text of B.')]
    """
    order = list(document.sections)
    random.Random(f"{seed} {document.id}").shuffle(order)
    sections: list[Section] = []
    start = 0  # of the next section: they follow each other from the start of the text
    for section in order:
        shift = start - section.start
        paragraphs: list[Paragraph] = []
        for p in section.paragraphs:
            sentences = tuple(replace(s, start=s.start + shift, end=s.end + shift) for s in p.sentences)
            paragraphs.append(replace(p, start=p.start + shift, end=p.end + shift, sentences=sentences))
        sections.append(replace(section, start=start, end=section.end + shift, paragraphs=tuple(paragraphs)))
        start = sections[-1].end + len(GAP)
    text, plain = (GAP.join(section.of(whole) for section in order) for whole in (document.text, document.plain))
    return replace(document, text=text, plain=plain if document.plain else "", sections=tuple(sections))
