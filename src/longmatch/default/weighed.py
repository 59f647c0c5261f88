"""A document whose terms are weighed by a collection: what every comparison with it needs, computed once."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from longmatch.default.encoding import Encoding
from longmatch.default.rarity import Rarity
from longmatch.lexical.table import TermTable
from longmatch.lexical.terms import KINDS, Flags, Kind
from longmatch.lexical.weights import Weighted, tfidf

BOILERPLATE = 0.012  # share of documents that have a phrase, from which it distinguishes nothing


@dataclass(frozen=True)
class WeighedDocument:
    """An encoding, and how rare its terms are."""

    encoding: Encoding
    rarity: Rarity

    @property
    def id(self) -> str:
        """The document's id."""
        return self.encoding.document.id

    @property
    def size(self) -> int:
        """Bytes, roughly: vectors, the text with its structure, running and distinct terms with their weights."""
        running = self.encoding.words
        return int(self.encoding.sentence_vectors.vectors.nbytes + 2 * len(self.encoding.document.text) + 160 * running)

    def weigh(self) -> None:
        """Work out now what comparisons need."""
        for kind in KINDS:
            _ = self.weights[kind], self.encoding.terms.of(kind).places
        _ = self.distinctive

    @cached_property
    def weights(self) -> dict[Kind, Weighted]:
        """The TF-IDF weights of words and phrases."""
        return {kind: tfidf(self.encoding.terms.of(kind).counts, self.rarity.idf(kind)) for kind in KINDS}

    @cached_property
    def distinctive(self) -> Flags:
        """Which sentences have a phrase that is not common: the others are boilerplate, no evidence by their meaning.

        In a collection that is what several documents have word for word, in general what texts of a kind always say:
        "the rest of this paper is organised as follows".
        """
        phrases, sentences = self.encoding.terms.phrases, len(self.encoding)
        distinct = phrases.counts.ids
        common = distinct[self.rarity.phrases.share(distinct) >= BOILERPLATE]
        found = np.diff(phrases.offsets)
        found -= np.bincount(phrases.sentence[TermTable.of(common).find(phrases.ids)[0]], minlength=sentences)
        return found > 0 if found.any() else np.ones(sentences, dtype=bool)
