"""LDA: topics as distributions over words, documents as distributions over topics.

D. M. Blei, A. Y. Ng, M. I. Jordan: "Latent Dirichlet Allocation", Journal of Machine Learning Research 3, 2003; fitted
as in M. D. Hoffman, D. M. Blei, F. Bach: "Online Learning for Latent Dirichlet Allocation", NIPS 2010.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from longmatch.lab.baselines.topics.coherence import coherence
from longmatch.lab.baselines.topics.similarity import Floats, shares
from longmatch.lab.baselines.topics.vocabulary import Vocabulary, digest
from longmatch.lexical.terms import Counts

COUNTS = (5, 10, 20, 50, 100)  # of topics, among which coherence chooses
CHOOSING, LEARNING = 1_000, 5_000  # texts the number of topics is chosen with, and the topics are learnt from
SEED = 0


@dataclass(frozen=True)
class Lda:
    """Fitted topics: the chance of each word in each (topics, words)."""

    vocabulary: Vocabulary
    words: Floats
    fitted: Any  # scikit-learn's model

    @staticmethod
    def fit(texts: Sequence[Counts], counts: Sequence[int] = COUNTS) -> "Lda | None":
        """Choose the number of topics by coherence, and learn them; None where no word tells texts apart.

        The order of the texts changes nothing. Of many, those with the lowest digests are learnt from.
        """
        some = sorted(texts, key=digest)[:LEARNING]
        vocabulary = Vocabulary.of(some)
        if not len(vocabulary):
            return None
        matrix = vocabulary.matrix(some)
        able = [count for count in counts if count <= len(some) / 2] or [min(2, len(some))]
        few = matrix[:CHOOSING]
        best = able[0] if len(able) == 1 else max(able, key=lambda k: (coherence(_learn(few, k).components_, few), -k))
        fitted = _learn(matrix, best)
        return Lda(vocabulary, shares(fitted.components_), fitted)

    @property
    def topics(self) -> int:
        """How many there are."""
        return len(self.words)

    def shares_of(self, texts: Sequence[Counts]) -> Floats:
        """Each text's shares of the topics (texts, topics); zeros for one without a known word."""
        matrix = self.vocabulary.matrix(texts)
        return np.asarray(self.fitted.transform(matrix) * (matrix.sum(1) > 0)[:, None])

    def spoken(self, sentences: Sequence[Counts], document: Floats) -> Floats:
        """How much each sentence of a document speaks of each topic: (sentences, topics).

        Each of its words is given to the topics by their chance of it, times the document's share of them.
        """
        chances = shares((self.words * document[:, None]).T)  # (words, topics)
        return np.asarray(self.vocabulary.matrix(sentences) @ chances)


def _learn(matrix: sp.csr_array, count: int) -> Any:
    """Fit scikit-learn's model."""
    from sklearn.decomposition import LatentDirichletAllocation

    together = int(np.clip(matrix.shape[0] // 10, 1, 128))  # so that small collections too make many steps
    model = LatentDirichletAllocation(count, learning_method="online", batch_size=together, random_state=SEED)
    return model.fit(matrix)
