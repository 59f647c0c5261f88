"""The documents that two documents both mention, and what they are called."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from longmatch.default.encoding import Encoding
from longmatch.default.rarity import Rarity
from longmatch.lexical.frequencies import Floats
from longmatch.lexical.mentions import bare_title, coupling, stack_titles
from longmatch.lexical.spelling import written
from longmatch.lexical.terms import Hashes

MOST_LISTED = 5


@dataclass(frozen=True)
class SharedMentions:
    """The titles that two documents both mention, by terms and rarity, and how alike that makes them."""

    a: Encoding
    b: Encoding
    terms: Hashes  # (titles, terms of each)
    rarity: Floats
    coupling: float

    def spelled(self) -> tuple[str, ...]:
        """The rarest titles, as the documents are titled or as they stand in the first text; each once."""
        order = np.argsort(-self.rarity, kind="stable")
        spelled = (self._spelled(self.terms[i]) for i in order if self.rarity[i] > 0)
        distinct = {name.lower(): name for name in spelled if name}
        return tuple(distinct.values())[:MOST_LISTED]

    def _spelled(self, terms: Hashes) -> str:
        for encoding in (self.a, self.b):
            if np.array_equal(encoding.title_terms, terms):
                return bare_title(encoding.document.title)
        return next(filter(None, (written(terms[0], terms[-1], text) for text in self._sentences(terms))), "")

    def _sentences(self, terms: Hashes) -> Iterator[str]:
        """The sentences of the first document with a title's first and last term."""
        for stream in (self.a.terms.words, self.a.terms.phrases):
            first, last = (stream.sentence[stream.ids == term] for term in (terms[0], terms[-1]))
            yield from (self.a.sentences.readable(int(i)) for i in np.intersect1d(first, last))


def shared_mentions(a: Encoding, b: Encoding, rarity: Rarity) -> SharedMentions:
    """The titles of the collection, and of the two, that both mention."""
    mentions = rarity.titles.mentioned(a.all_terms, stack_titles([a.title_terms, b.title_terms]))
    terms = b.all_terms
    shared = mentions.in_documents(np.zeros(len(terms), dtype=np.int64), terms, 1)
    rare = rarity.of_mentions(mentions)
    value = coupling(shared, rare, a.words, np.array([b.words]))
    return SharedMentions(a, b, mentions.terms[shared.title], rare[shared.title], float(value[0]))
