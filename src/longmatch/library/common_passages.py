"""Whether a passage is boilerplate of a library, asked of its indices: for one comparison, without reading it all."""

from dataclasses import dataclass

import numpy as np

from longmatch.lexical.form import content_words
from longmatch.lexical.terms import hash_runs, hash_word
from longmatch.library.errors import LibraryError
from longmatch.library.index.index import Index
from longmatch.library.shingle_table import COLUMNS, COMMON, MANY, runs_in, runs_of
from longmatch.library.store import Store

PHRASE = 3  # words, as the index counts them
ASKED = 40  # words of a passage that full-text search is asked for
LIKELY = 4 * MANY  # documents that are looked at
RARE = 0.25  # share of a passage's phrases that may be rare, for small changes make some


@dataclass(frozen=True)
class CommonPassages:
    """First by the document frequencies of its phrases, then by the documents that full-text search finds."""

    store: Store
    index: Index

    def __call__(self, text: str) -> bool:
        """Whether more than MANY documents hold most of a passage."""
        words = content_words(text)
        return self._may_be_common(words) and self._holders(text, words) > MANY

    def _may_be_common(self, words: list[str]) -> bool:
        """A passage stands in no more documents than its phrases do."""
        ids = np.array([hash_word(word) for word in words], dtype=np.uint64)
        starts = np.arange(max(0, len(ids) - PHRASE + 1))
        if not len(starts):
            return False
        documents = self.index.rarity.phrases.collection(np.unique(hash_runs(ids, starts, PHRASE)))
        return float(np.quantile(documents, RARE)) > MANY

    def _holders(self, text: str, words: list[str]) -> int:
        try:
            likely = self.store.find(" ".join(words[:ASKED]), LIKELY)
        except LibraryError:  # a library without a full-text index
            return 0
        runs = runs_in(text)
        rows = self.store.fetch(likely, COLUMNS)
        held = (np.isin(runs, runs_of(row), assume_unique=True).mean() for row in rows) if len(runs) else ()
        return sum(1 for share in held if share >= COMMON)
