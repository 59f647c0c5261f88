"""Some documents of an index, in the order asked for, wherever in its segments they lie."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from longmatch.lexical.terms import Counts, Hashes, Ints, Kind
from longmatch.lexical.weights import Frequencies, Postings
from longmatch.library.index.segment import Array, Occurrences, Segment
from longmatch.ragged import Floats, offsets_of

T = TypeVar("T")


@dataclass(frozen=True)
class Part:
    """Those of one segment."""

    segment: Segment
    documents: Ints  # their numbers in the segment
    places: Ints  # in the selection


@dataclass(frozen=True)
class Selection:
    """What the index holds of some documents, as columns."""

    ids: Sequence[str]
    parts: Sequence[Part]

    @staticmethod
    def of(ids: Sequence[str], rows: Ints, segments: Sequence[Segment]) -> "Selection":
        """The documents `ids`; `rows` are their numbers among those of all segments."""
        starts = offsets_of(np.array([len(segment) for segment in segments], dtype=np.int64))
        home = np.searchsorted(starts, rows, side="right") - 1
        parts = []
        for number in np.unique(home).tolist():
            places = np.flatnonzero(home == number)
            parts.append(Part(segments[number], rows[places] - starts[number], places))
        return Selection(ids, parts)

    def __len__(self) -> int:
        return len(self.ids)

    def column(self, name: str) -> Array:
        """An entry per document; there must be a document."""
        values = np.concatenate([part.segment[name][part.documents] for part in self.parts])
        return values[np.argsort(np.concatenate([part.places for part in self.parts]))]

    def each(self, read: Callable[[Segment, int], T]) -> list[T]:
        """What `read` gives of each document, by its segment and its number there."""
        found = {
            place: read(part.segment, document)
            for part in self.parts
            for place, document in zip(part.places.tolist(), part.documents.tolist(), strict=True)
        }
        return [found[place] for place in range(len(self))]

    def find(self, kind: str, terms: Hashes) -> Postings:
        """How often the documents hold some sorted terms."""
        parts = [part.segment.find(kind, terms, part.documents) for part in self.parts]
        homes = [part.places[found.document] for part, found in zip(self.parts, parts, strict=True)]
        found_terms, counts = [found.term for found in parts], [found.count for found in parts]
        return Postings(np.concatenate(homes), np.concatenate(found_terms), np.concatenate(counts))

    def occurrences(self, name: str) -> Occurrences:
        """What the documents hold: their words, their phrases, or the words of their titles."""
        parts = [part.segment.occurrences(name, part.documents) for part in self.parts]
        document = np.concatenate([part.places[held.document] for part, held in zip(self.parts, parts, strict=True)])
        order = np.argsort(document, kind="stable")
        terms, counts = (np.concatenate([getattr(held, of) for held in parts]) for of in ("term", "count"))
        return Occurrences(len(self), document[order], terms[order], counts[order])

    def counts(self, name: str) -> Counts:
        """What a single document holds."""
        held = self.occurrences(name)
        return Counts(held.term, held.count)


@dataclass(frozen=True)
class SegmentFrequencies:
    """The document frequencies of all segments; those of documents about to be added count as `more`."""

    segments: Sequence[Segment]
    kind: Kind
    indexed: int  # documents
    more: Frequencies | None = None

    @property
    def documents(self) -> float:
        """The number of documents."""
        return self.indexed + (self.more.documents if self.more else 0)

    def __call__(self, terms: Hashes) -> Floats:
        """The number of documents each of the terms occurs in; sorted terms are found soonest."""
        counts = np.zeros(len(terms)) if self.more is None else self.more(terms)
        for segment in self.segments:
            counts = counts + segment.frequencies(self.kind, terms)
        return counts

    def frequent(self, count: float) -> Hashes:
        """All terms that occur in at least so many documents, and others that a segment has often."""
        parts = len(self.segments) + (self.more is not None)
        found = [segment.frequent(self.kind, count / parts) for segment in self.segments]
        if self.more is not None:
            found.append(self.more.frequent(count / parts))
        return np.concatenate(found) if found else np.empty(0, np.uint64)
