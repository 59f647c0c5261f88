"""The text that documents of a library share: which pairs to look at, and what each of them is."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from longmatch.default.sides import Floats
from longmatch.documents.document import Document
from longmatch.lexical.terms import Ints
from longmatch.library.row_cache import RowCache
from longmatch.library.rows import DOCUMENT_COLUMNS
from longmatch.library.shingle_table import LENGTH, ShingleTable
from longmatch.library.store import Store
from longmatch.reuse.reuse import REUSE_SHARE, REUSE_WORDS, Reuse, reuse_of
from longmatch.reuse.words import Vocabulary, Words, running_words

KEPT_BYTES = 256 << 20  # of texts
BLOCK = 32  # pairs whose texts are read together
SURVIVING = 0.35  # share of the runs of a passage that small changes leave whole


def least_shared(shorter: Ints) -> Floats:
    """How many runs two documents share at least if one reuses the other, by the words of the shorter.

    >>> least_shared(np.array([100, 4000])).tolist()
    [1.4, 15.4]
    """
    words = np.minimum(REUSE_WORDS, REUSE_SHARE * shorter)
    least: Floats = np.round(np.maximum(1.0, SURVIVING * (words - LENGTH)), 2)
    return least


@dataclass(frozen=True)
class ReadText:
    """A document and its words."""

    document: Document
    words: Words

    @property
    def id(self) -> str:
        """The document's id."""
        return self.document.id

    @property
    def size(self) -> int:
        """Bytes."""
        return 2 * len(self.document.text) + 40 * len(self.words)


class SharedText:
    """Compares the texts of pairs that share enough runs of words."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.table = ShingleTable.of(store)
        self.vocabulary = Vocabulary()
        self._kept: RowCache[ReadText] = RowCache(KEPT_BYTES)

    def pairs(self, similar: Collection[tuple[str, str]]) -> Iterator[tuple[tuple[str, str], Reuse]]:
        """The pairs that are copies or versions or reuse text, `similar` ones and any others."""
        likely = self.table.candidates(least_shared)
        known = set(self.table.number)
        for pair in similar:  # copies of which there are many share no run that few documents have
            if pair not in likely and known.issuperset(pair):
                shared = self.table.shared(*pair)
                if shared >= least_shared(self.table.shorter(*pair))[0]:
                    likely[pair] = shared
        chosen = sorted(likely)
        for start in range(0, len(chosen), BLOCK):
            for pair, reuse in self._compare(chosen[start : start + BLOCK]):
                if reuse.relation:
                    yield pair, reuse

    def _compare(self, pairs: Sequence[tuple[str, str]]) -> Iterator[tuple[tuple[str, str], Reuse]]:
        texts = self.texts(sorted({id for pair in pairs for id in pair}))
        for a, b in pairs:
            if a in texts and b in texts:  # another process may have removed one
                first, second = texts[a], texts[b]
                reuse = reuse_of(first.document, first.words, second.document, second.words, self.table.is_common)
                yield (a, b), reuse

    def texts(self, ids: Sequence[str]) -> dict[str, ReadText]:
        """Documents with their words, by id."""

        def read(unread: Sequence[str]) -> list[ReadText]:
            documents = (row.document() for row in self.store.fetch(unread, DOCUMENT_COLUMNS))
            return [ReadText(document, running_words(document, self.vocabulary)) for document in documents]

        return {text.id: text for text in self._kept.get(ids, self.store.version, read)}
