"""The words that can tell topics apart, and how often texts hold them."""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b

import numpy as np
import scipy.sparse as sp

from longmatch.lexical.terms import Counts, Hashes

MOST = 20_000  # words


def digest(text: Counts) -> bytes:
    """Of a text's words: texts are put in the order of these, so that the order they come in changes nothing."""
    return blake2b(text.ids.tobytes() + text.counts.tobytes(), digest_size=16).digest()


@dataclass(frozen=True)
class Vocabulary:
    """Words as hashes, in rising order."""

    ids: Hashes

    @staticmethod
    def of(texts: Sequence[Counts], common: float = 0.5, most: int = MOST) -> "Vocabulary":
        """The words of at least two texts and at most the share `common` of them; of too many, those of most texts."""
        joined = np.concatenate([text.ids for text in texts]) if texts else np.empty(0, np.uint64)
        ids, held = np.unique(joined, return_counts=True)
        telling = (held >= 2) & (held <= max(2, common * len(texts)))
        ids, held = ids[telling], held[telling]
        return Vocabulary(np.sort(ids[np.argsort(-held, kind="stable")[:most]]))

    def __len__(self) -> int:
        return len(self.ids)

    def matrix(self, texts: Sequence[Counts]) -> sp.csr_array:
        """How often each text holds each word: (texts, words)."""
        rows, columns, values = [np.empty(0, np.int64)], [np.empty(0, np.int64)], [np.empty(0, np.int64)]
        for number, text in enumerate(texts):
            _, mine, theirs = np.intersect1d(self.ids, text.ids, assume_unique=True, return_indices=True)
            rows.append(np.full(len(mine), number))
            columns.append(mine)
            values.append(text.counts[theirs])
        cells = (np.concatenate(rows), np.concatenate(columns))
        return sp.csr_array((np.concatenate(values).astype(np.float64), cells), shape=(len(texts), len(self)))
