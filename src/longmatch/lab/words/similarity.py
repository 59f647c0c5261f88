"""Similarity of sentences by shared words (SST section 3.2, equation 1)."""

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from longmatch.lexical.terms import Stream

Floats = npt.NDArray[np.float64]


def textrank_similarity(words: Stream) -> Floats:
    """Equation 1, as in TextRank: distinct shared words over the sum of the logarithms of both lengths.

    A sentence of one word counts as two words long: its logarithm is 0, and the quotient of two such would be
    unbounded. Returns (sentences, sentences).

    >>> from longmatch.lab.words.text_words import stream_of
    >>> textrank_similarity(stream_of([[1, 2, 3, 4], [3, 4, 5, 6], [7]])).round(3)
    array([[1.443, 0.721, 0.   ],
           [0.721, 1.443, 0.   ],
           [0.   , 0.   , 0.721]])
    """
    logs = np.log(np.maximum(np.diff(words.offsets), 2))
    presence = incidence(words)
    shared: Floats = (presence @ presence.T).toarray().astype(np.float64)
    shared /= logs[:, None] + logs
    return shared


def incidence(words: Stream) -> csr_array:
    """1 where a sentence contains a word: (sentences, distinct words)."""
    distinct, column = np.unique(words.ids, return_inverse=True)
    shape = (len(words.offsets) - 1, len(distinct))
    matrix = csr_array((np.ones(len(column), dtype=np.float32), column, words.offsets.copy()), shape=shape)
    matrix.sum_duplicates()
    matrix.data[:] = 1
    return matrix


def to_unit(similarity: Floats) -> Floats:
    """Scale similarities to [0, 1] by the roots of both diagonal entries, so that equal sentences have 1."""
    roots = np.sqrt(np.diag(similarity))
    scale = np.where(roots > 0, roots, 1.0)
    unit: Floats = similarity / scale[:, None] / scale
    np.fill_diagonal(unit, 1.0)
    return unit
