"""In how many documents of the index a term occurs, looked up when it is asked for."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from longmatch.lexical.frequencies import Floats, Frequencies
from longmatch.lexical.terms import Hashes, Kind
from longmatch.library.index.segment import Segment


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
