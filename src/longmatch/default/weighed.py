"""A document whose terms are weighed by a collection: what every comparison with it needs, computed once."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from longmatch.default.encoding import Encoding
from longmatch.default.rarity import Rarity
from longmatch.lexical.terms import KINDS, Flags, Kind
from longmatch.lexical.weights import Weighted, tfidf

BOILERPLATE = 0.012  # share of documents that have a phrase, from which it distinguishes nothing


@dataclass(frozen=True)
class WeighedDocument:
    """An encoding, and how rare its terms are."""

    encoding: Encoding
    rarity: Rarity

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
        phrases, count = self.encoding.terms.phrases, len(self.encoding)
        common = self.rarity.phrases.share(phrases.ids) >= BOILERPLATE
        found = np.bincount(phrases.sentence[~common], minlength=count) > 0
        return found if found.any() else np.ones(count, dtype=bool)
