"""A document's scored sentences as flat arrays, and the groups they form at each level."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from longmatch.documents.document import Document, Span
from longmatch.documents.language import count_words
from longmatch.matching.match import Level, Passage
from longmatch.units.pieces import Pieces

Ints = npt.NDArray[np.int64]

CHUNK_TOKENS = 254


@dataclass(frozen=True)
class Groups:
    """Consecutive sentences taken together: a label and a span each, and where each begins."""

    labels: tuple[str, ...]
    spans: tuple[Span, ...]
    offsets: Ints  # (groups + 1,)


@dataclass(frozen=True)
class Sentences:
    """The sentences of a document's running text: spans, lengths in tokens, and the parts they stand in."""

    document: Document
    starts: Ints  # (sentences,)
    ends: Ints
    lengths: Ints
    paragraph: Ints
    section: Ints

    @staticmethod
    def of(pieces: Pieces) -> "Sentences":
        """From a document cut into sentences."""
        return Sentences(pieces.document, pieces.starts, pieces.ends, pieces.lengths, pieces.paragraph, pieces.section)

    @staticmethod
    def of_document(document: Document, lengths: Ints | None = None) -> "Sentences":
        """The sentences as they stand, with their lengths, by default counted in words."""
        rows = [(s.start, s.end, paragraph, section) for s, paragraph, section in document.indexed_sentences()]
        starts, ends, paragraphs, sections = np.array(rows, dtype=np.int64).reshape(-1, 4).T
        if lengths is None:
            words = (count_words(document.readable[start:end]) for start, end, _, _ in rows)
            lengths = np.fromiter(words, np.int64, len(rows))
        return Sentences(document, starts, ends, lengths, paragraphs, sections)

    def __len__(self) -> int:
        return len(self.starts)

    def part(self, rows: Ints) -> "Sentences":
        """Some of the sentences, in the order given."""
        columns = (self.starts, self.ends, self.lengths, self.paragraph, self.section)
        return Sentences(self.document, *(column[rows] for column in columns))

    def passages(self, rows: Ints) -> list[Passage]:
        """Some sentences, each with the heading it stands under."""
        document, starts, ends = self.document, self.starts[rows].tolist(), self.ends[rows].tolist()
        headings = [document.heading(section) for section in self.section[rows].tolist()]
        pages = [document.page_at(start) for start in starts]
        return [
            Passage(document.text[start:end], start, end, heading, document.plain[start:end], page)
            for start, end, heading, page in zip(starts, ends, headings, pages, strict=True)
        ]

    def shown(self, index: int) -> str:
        """One sentence as a reader wants to see it: `shown` of its passage."""
        start, end = int(self.starts[index]), int(self.ends[index])
        return self.document.plain[start:end] or self.document.text[start:end]

    def readable(self, index: int) -> str:
        """One sentence as models read it, its markup blanked."""
        return self.document.readable[int(self.starts[index]) : int(self.ends[index])]

    def groups(self, level: Level) -> Groups:
        """The groups of a level."""
        if level == "sections":
            return self.sections
        return self.chunks if level == "chunks" else self.singles

    @cached_property
    def sections(self) -> Groups:
        """The sections that hold running text."""
        return self._groups(self.section.tolist())

    @cached_property
    def chunks(self) -> Groups:
        """Runs of whole sentences of one section, of at most CHUNK_TOKENS tokens."""
        numbers: list[int] = []
        filled, before = 0, -1
        for section, length in zip(self.section.tolist(), self.lengths.tolist(), strict=True):
            begins = section != before or filled + length > CHUNK_TOKENS
            filled, before = length if begins else filled + length, section
            numbers.append((numbers[-1] if numbers else 0) + begins)
        return self._groups(numbers, numbered=True)

    @cached_property
    def singles(self) -> Groups:
        """Every sentence a group by itself."""
        return self._groups(range(1, len(self) + 1), numbered=True)

    @cached_property
    def paragraphs(self) -> Ints:
        """Where each paragraph begins, and the end."""
        return run_offsets(self.paragraph)

    def _groups(self, keys: Sequence[int], numbered: bool = False) -> Groups:
        """Sentences in a row that have one key, labelled by their section, and by the key where that is a number."""
        offsets = run_offsets(np.array(keys, dtype=np.int64)) if len(keys) else np.zeros(1, dtype=np.int64)
        labels, spans = [], []
        for first, after in pairwise(offsets.tolist()):
            heading = self.document.sections[int(self.section[first])].heading
            heading = heading or ("(opening)" if len(offsets) > 2 else self.document.title)
            labels.append(f"{heading} · {keys[first]}" if numbered else heading)
            spans.append(Span(int(self.starts[first]), int(self.ends[after - 1])))
        return Groups(tuple(labels), tuple(spans), offsets)


def run_offsets(numbers: Ints) -> Ints:
    """Where each run of equal numbers begins, and the end.

    >>> run_offsets(np.array([4, 4, 7])).tolist()
    [0, 2, 3]
    """
    return np.concatenate([[0], np.flatnonzero(np.diff(numbers)) + 1, [len(numbers)]]).astype(np.int64)
