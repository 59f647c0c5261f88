"""A document's scored sentences as flat arrays, and the groups they form at each level."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby, pairwise

import numpy as np
import numpy.typing as npt

from longmatch.documents.document import Document, Span
from longmatch.documents.language import count_words
from longmatch.matching.match import Level, Passage
from longmatch.ragged import offsets_of
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
    def of_document(document: Document) -> "Sentences":
        """The sentences as they stand, their lengths counted in words."""
        rows = [
            (s.start, s.end, count_words(s.of(document.readable)), paragraph, section)
            for s, paragraph, section in document.indexed_sentences()
        ]
        return Sentences(document, *np.array(rows, dtype=np.int64).reshape(-1, 5).T)

    def __len__(self) -> int:
        return len(self.starts)

    def part(self, rows: Ints) -> "Sentences":
        """Some of the sentences, in the order given."""
        columns = (self.starts, self.ends, self.lengths, self.paragraph, self.section)
        return Sentences(self.document, *(column[rows] for column in columns))

    def passage(self, index: int) -> Passage:
        """One sentence, with the heading it stands under."""
        start, end = int(self.starts[index]), int(self.ends[index])
        document = self.document
        heading = document.heading(int(self.section[index]))
        return Passage(
            document.text[start:end], start, end, heading, document.plain[start:end], document.page_at(start)
        )

    def shown(self, index: int) -> str:
        """One sentence as a reader wants to see it: `passage(index).shown`."""
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
        return self._groups([(int(s),) for s in self.section])

    @cached_property
    def chunks(self) -> Groups:
        """Runs of whole sentences of one section, of at most CHUNK_TOKENS tokens."""
        keys: list[tuple[int, int]] = []
        filled = number = 0
        for section, length in zip(self.section.tolist(), self.lengths.tolist(), strict=True):
            if not keys or section != keys[-1][0] or filled + length > CHUNK_TOKENS:
                number, filled = number + 1, 0
            filled += length
            keys.append((section, number))
        return self._groups(keys)

    @cached_property
    def singles(self) -> Groups:
        """Every sentence a group by itself."""
        return self._groups([(int(s), i + 1) for i, s in enumerate(self.section)])

    @cached_property
    def paragraphs(self) -> Ints:
        """Where each paragraph begins, and the end."""
        return run_offsets(self.paragraph)

    def _groups(self, keys: Sequence[tuple[int, ...]]) -> Groups:
        runs = [(key, len(list(run))) for key, run in groupby(keys)]
        offsets = offsets_of(np.array([count for _, count in runs], dtype=np.int64))
        spans = (Span(int(self.starts[a]), int(self.ends[b - 1])) for a, b in pairwise(offsets.tolist()))
        return Groups(tuple(self._label(key, len(runs)) for key, _ in runs), tuple(spans), offsets)

    def _label(self, key: tuple[int, ...], count: int) -> str:
        heading = self.document.sections[key[0]].heading or ("(opening)" if count > 1 else self.document.title)
        return heading if len(key) == 1 else f"{heading} · {key[1]}"


def run_offsets(numbers: Ints) -> Ints:
    """Where each run of equal numbers begins, and the end.

    >>> run_offsets(np.array([4, 4, 7])).tolist()
    [0, 2, 3]
    """
    return np.concatenate([[0], np.flatnonzero(np.diff(numbers)) + 1, [len(numbers)]]).astype(np.int64)
