"""A document whose terms are weighed by a collection: what every comparison with it needs, computed once."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from longmatch.default.encoding import Encoding
from longmatch.default.rarity import Rarity
from longmatch.lexical.frequencies import Floats
from longmatch.lexical.links import RatedTerms
from longmatch.lexical.terms import KINDS, Counts, Flags, Ints, Kind, Terms
from longmatch.lexical.weights import Weighted, tfidf_values
from longmatch.ragged import segment_ids


@dataclass(frozen=True)
class CountedTerms:
    """A document's words or phrases, and in how many documents of its collection and of background text they occur."""

    counts: Counts
    documents: Floats
    background: Floats


@dataclass(frozen=True)
class WeighedDocument:
    """An encoding, and how rare its terms are."""

    encoding: Encoding
    rarity: Rarity
    counted: Callable[[Kind], CountedTerms] | None = None
    """Its words or phrases, where they are counted already."""

    @property
    def id(self) -> str:
        """The document's id."""
        return self.encoding.document.id

    @property
    def size(self) -> int:
        """Bytes, roughly: vectors, the text with its structure, running and distinct terms with their weights."""
        running = self.encoding.words
        return int(self.encoding.sentence_vectors.vectors.nbytes + 2 * len(self.encoding.document.text) + 180 * running)

    def weigh(self) -> None:
        """Work out now what a search with it needs."""
        _ = self._shares

    @cached_property
    def weights(self) -> dict[Kind, Weighted]:
        """The TF-IDF weights of words and phrases."""
        return {kind: self._weights(kind) for kind in KINDS}

    def counts(self, kind: Kind) -> Counts:
        """The distinct words or phrases, and how often it has each."""
        return self._shares[kind][0]

    def idf(self, kind: Kind) -> Floats:
        """How rare each of them is."""
        return self.rarity.idf(kind).idf_of(self._shares[kind][1])

    def _weights(self, kind: Kind) -> Weighted:
        counts = self.counts(kind)
        return Weighted(counts.ids, tfidf_values(counts.counts, self.idf(kind)))

    @cached_property
    def _shares(self) -> dict[Kind, tuple[Counts, Floats]]:
        """The distinct words and phrases, and the share of documents that have each."""
        return {kind: self._share(kind) for kind in KINDS}

    def _share(self, kind: Kind) -> tuple[Counts, Floats]:
        rarity = self.rarity.idf(kind)
        if self.counted is not None:
            known = self.counted(kind)
            return known.counts, rarity.share_of(known.documents, known.background)
        counts = self.encoding.terms.of(kind).counts
        return counts, rarity.share(counts.ids)

    @cached_property
    def rated(self) -> list[RatedTerms]:
        """Its words and its phrases, each with its rarity."""
        return [RatedTerms(self.encoding.terms.of(kind), self.idf(kind)) for kind in KINDS]

    @cached_property
    def distinctive(self) -> Flags:
        """Which sentences are no boilerplate."""
        return distinctive_sentences(self.encoding.terms, np.array([0, len(self.encoding)]), self.rarity)


def distinctive_sentences(terms: Terms, documents: Ints, rarity: Rarity) -> Flags:
    """Which sentences have a phrase that is not common: the others are boilerplate, no evidence by their meaning.

    `documents` are the offsets of the documents' sentences. If a document is all boilerplate, every sentence counts.
    """
    phrases = terms.phrases
    common = rarity.boilerplate.find(phrases.ids)
    rare = np.diff(phrases.offsets) > np.bincount(phrases.sentence[common], minlength=len(phrases.offsets) - 1)
    home = segment_ids(documents)
    nothing = np.bincount(home, rare, len(documents) - 1) == 0
    return np.asarray(rare | nothing[home])
