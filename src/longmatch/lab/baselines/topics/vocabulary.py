"""The vocabulary of topic models, and counts of its words in texts."""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b

import numpy as np
import scipy.sparse as sp

from longmatch.lexical.terms import Counts, Hashes

MAX_WORDS = 20_000


def digest(text: Counts) -> bytes:
    """A digest of a text's words, to order texts independently of their input order."""
    return blake2b(text.ids.tobytes() + text.counts.tobytes(), digest_size=16).digest()


@dataclass(frozen=True)
class Vocabulary:
    """Words as sorted hashes."""

    ids: Hashes

    @staticmethod
    def of(texts: Sequence[Counts], common: float = 0.5, most: int = MAX_WORDS) -> "Vocabulary":
        """The words in at least two texts and at most the share `common` of them; at most the `most` frequent ones."""
        joined = np.concatenate([text.ids for text in texts]) if texts else np.empty(0, np.uint64)
        ids, frequency = np.unique(joined, return_counts=True)
        kept = (frequency >= 2) & (frequency <= max(2, common * len(texts)))
        ids, frequency = ids[kept], frequency[kept]
        return Vocabulary(np.sort(ids[np.argsort(-frequency, kind="stable")[:most]]))

    def __len__(self) -> int:
        return len(self.ids)

    def matrix(self, texts: Sequence[Counts]) -> sp.csr_array:
        """The count of each word in each text: (texts, words)."""
        rows, columns, values = [np.empty(0, np.int64)], [np.empty(0, np.int64)], [np.empty(0, np.int64)]
        for number, text in enumerate(texts):
            _, mine, theirs = np.intersect1d(self.ids, text.ids, assume_unique=True, return_indices=True)
            rows.append(np.full(len(mine), number))
            columns.append(mine)
            values.append(text.counts[theirs])
        cells = (np.concatenate(rows), np.concatenate(columns))
        return sp.csr_array((np.concatenate(values).astype(np.float64), cells), shape=(len(texts), len(self)))
