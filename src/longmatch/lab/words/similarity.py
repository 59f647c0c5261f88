"""How alike sentences are by the words they share (SST section 3.2, equation 1)."""

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from longmatch.lexical.terms import Stream

Floats = npt.NDArray[np.float64]


def textrank_similarity(words: Stream) -> Floats:
    """Equation 1, as in TextRank: distinct shared words over the sum of the logarithms of both lengths.

    A sentence of one word counts as one of two: its logarithm is 0, and the quotient of two such would have no bound.
    The diagonal is a sentence with itself: (sentences, sentences).

    >>> from longmatch.lab.words.text_words import stream_of
    >>> textrank_similarity(stream_of([[1, 2, 3, 4], [3, 4, 5, 6], [7]])).round(3)
    array([[1.443, 0.721, 0.   ],
           [0.721, 1.443, 0.   ],
           [0.   , 0.   , 0.721]])
    """
    logs = np.log(np.maximum(np.diff(words.offsets), 2))
    found = incidence(words)
    shared: Floats = (found @ found.T).toarray().astype(np.float64)
    shared /= logs[:, None] + logs
    return shared


def incidence(words: Stream) -> csr_array:
    """1 where a sentence holds a word, however often: (sentences, distinct words)."""
    distinct, column = np.unique(words.ids, return_inverse=True)
    shape = (len(words.offsets) - 1, len(distinct))
    found = csr_array((np.ones(len(column), dtype=np.float32), column, words.offsets.copy()), shape=shape)
    found.sum_duplicates()
    found.data[:] = 1
    return found


def to_unit(similarity: Floats) -> Floats:
    """The same between 0 and 1, for a picture: divided by the roots of both diagonals, so that equals have 1."""
    own = np.sqrt(np.diag(similarity))
    scale = np.where(own > 0, own, 1.0)
    unit: Floats = similarity / scale[:, None] / scale
    np.fill_diagonal(unit, 1.0)
    return unit
