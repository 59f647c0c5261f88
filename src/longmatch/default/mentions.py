"""The documents that two documents both name: how many, and what they are called."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from longmatch.default.collection import Rarity
from longmatch.default.encoding import Encoding
from longmatch.lexical.frequencies import Floats
from longmatch.lexical.mentions import bare_title, coupling, stacked
from longmatch.lexical.spelling import written
from longmatch.lexical.terms import Hashes

TOLD = 5  # names at most


@dataclass(frozen=True)
class SharedNames:
    """What two documents both name, by terms and rarity, and how alike that makes them."""

    a: Encoding
    b: Encoding
    terms: Hashes  # (names, terms of each)
    rarity: Floats
    similarity: float

    def told(self) -> tuple[str, ...]:
        """The rarest names, as titles or as they stand in the first document; each once."""
        order = np.argsort(-self.rarity, kind="stable")
        spelled = (self._spelled(self.terms[i]) for i in order if self.rarity[i] > 0)
        distinct = {name.lower(): name for name in spelled if name}
        return tuple(distinct.values())[:TOLD]

    def _spelled(self, terms: Hashes) -> str:
        for document in (self.a, self.b):
            if np.array_equal(document.name, terms):
                return bare_title(document.document.title)
        return next(filter(None, (written(terms[0], terms[-1], text) for text in self._sentences(terms))), "")

    def _sentences(self, terms: Hashes) -> Iterator[str]:
        """Those of the first document that hold a name's first and last term."""
        for stream in (self.a.terms.words, self.a.terms.phrases):
            first, last = (stream.sentence[stream.ids == term] for term in (terms[0], terms[-1]))
            yield from (self.a.sentences.readable(int(i)) for i in np.intersect1d(first, last))


def shared_names(a: Encoding, b: Encoding, rarity: Rarity) -> SharedNames:
    """The titles of the collection, and of the two, that both name."""
    names = rarity.titles.named(a.held, stacked([a.name, b.name]))
    theirs = b.held
    found = names.found(np.zeros(len(theirs), dtype=np.int64), theirs, 1)
    rare = rarity.of_names(names)
    value = coupling(found, rare, a.words, np.array([b.words]))
    return SharedNames(a, b, names.terms[found.indices], rare[found.indices], float(value[0]))
