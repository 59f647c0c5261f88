"""What a collection without labels teaches: the two halves of a document belong together."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from longmatch.lab.adapting.learning.material import Ints, Material, both_ways, bounds
from longmatch.lexical.terms import Terms

RUNS = 8  # of sentences, into which a document of few paragraphs is cut


@dataclass(frozen=True)
class Reading:
    """A document, or a passage of it, as it is learnt from."""

    tokens: Sequence[Ints]  # of each sentence
    paragraph: Ints  # in which each sentence stands
    terms: Terms  # sentence by sentence

    def __len__(self) -> int:
        return len(self.tokens)

    def part(self, rows: Ints) -> "Reading":
        """Some of the sentences."""
        return Reading([self.tokens[row] for row in rows], self.paragraph[rows], self.terms.part(rows))


def halves(paragraph: Ints) -> tuple[Ints, Ints]:
    """The sentences of every other paragraph, and the rest. Few paragraphs are cut into runs of sentences instead.

    >>> [half.tolist() for half in halves(np.array([0, 0, 1, 2, 2, 3]))]
    [[0, 1, 3, 4], [2, 5]]
    """
    _, run = np.unique(paragraph, return_inverse=True)
    if run.max(initial=0) < 3:
        run = np.arange(len(paragraph)) * RUNS // max(1, len(paragraph))
    return np.flatnonzero(run % 2 == 0), np.flatnonzero(run % 2 == 1)


def material_of_halves(documents: Sequence[Reading]) -> Material:
    """Documents 2k and 2k + 1 are the halves of document k.

    Words and phrases are left out: halves share so many of them that nothing would be left to learn, and the documents
    most like one by its words, which elsewhere are the hardest to tell from it, may well belong with it.
    """
    parts = [document.part(rows) for document in documents for rows in halves(document.paragraph)]
    wordless = sp.csr_array((len(parts), 1))
    return Material(
        "halves",
        np.concatenate([tokens for part in parts for tokens in part.tokens]).astype(np.int32),
        bounds([len(tokens) for part in parts for tokens in part.tokens]),
        bounds([len(part) for part in parts]),
        wordless,
        wordless,
        both_ways([(2 * k, 2 * k + 1) for k in range(len(documents))]),
    )
