"""LDA: topics as distributions over words, documents as distributions over topics.

D. M. Blei, A. Y. Ng, M. I. Jordan: "Latent Dirichlet Allocation", Journal of Machine Learning Research 3, 2003; fitted
as in M. D. Hoffman, D. M. Blei, F. Bach: "Online Learning for Latent Dirichlet Allocation", NIPS 2010.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from longmatch.documents.document import Document
from longmatch.lab.baselines.topics.proportions import (
    Floats,
    TopicMatcher,
    TopicProfile,
    Vocabulary,
    digest,
    paragraph_counts,
    proportions,
)
from longmatch.lexical.matcher import LexicalEncoding
from longmatch.lexical.terms import Counts, Kind, terms_of
from longmatch.matching.matcher import Progress
from longmatch.matching.sentences import Sentences

COUNTS = (5, 10, 20, 50, 100)  # numbers of topics to choose from by coherence
SELECTION_TEXTS, MAX_TEXTS = 1_000, 5_000  # for choosing the number of topics, and for fitting
SEED = 0


@dataclass(frozen=True)
class Lda:
    """Fitted topics: the probability of each word in each topic (topics, words)."""

    vocabulary: Vocabulary
    words: Floats
    fitted: Any  # scikit-learn's model

    @staticmethod
    def fit(texts: Sequence[Counts], counts: Sequence[int] = COUNTS) -> "Lda | None":
        """Choose the number of topics by coherence and fit them; None if the vocabulary is empty.

        The order of the texts does not matter; beyond MAX_TEXTS, those with the lowest digests are used.
        """
        sample = sorted(texts, key=digest)[:MAX_TEXTS]
        vocabulary = Vocabulary.of(sample)
        if not len(vocabulary):
            return None
        matrix = vocabulary.matrix(sample)
        options = [count for count in counts if count <= len(sample) / 2] or [min(2, len(sample))]
        few = matrix[:SELECTION_TEXTS]
        best = options[0]
        if len(options) > 1:
            best = max(options, key=lambda k: (coherence(_fit(few, k).components_, few), -k))
        fitted = _fit(matrix, best)
        return Lda(vocabulary, proportions(fitted.components_), fitted)

    def proportions_of(self, texts: Sequence[Counts]) -> Floats:
        """The topic proportions of each text (texts, topics); zeros for a text without known words."""
        matrix = self.vocabulary.matrix(texts)
        return np.asarray(self.fitted.transform(matrix) * (matrix.sum(1) > 0)[:, None])

    def topic_weights(self, sentences: Sequence[Counts], document: Floats) -> Floats:
        """The topic weights of a document's sentences: (sentences, topics).

        Each word is divided among the topics by its probability in them times the document's proportion of them.
        """
        topic_probabilities = proportions((self.words * document[:, None]).T)  # (words, topics)
        return np.asarray(self.vocabulary.matrix(sentences) @ topic_probabilities)


def _fit(matrix: sp.csr_array, count: int) -> Any:
    """Fit scikit-learn's model."""
    from sklearn.decomposition import LatentDirichletAllocation

    batch_size = int(np.clip(matrix.shape[0] // 10, 1, 128))  # many steps even for small collections
    model = LatentDirichletAllocation(count, learning_method="online", batch_size=batch_size, random_state=SEED)
    return model.fit(matrix)


def coherence(topics: Floats, texts: sp.csr_array, words: int = 10) -> float:
    """The mean NPMI of every two of a topic's heaviest words, averaged over topics.

    G. Bouma: "Normalized (Pointwise) Mutual Information in Collocation Extraction", GSCL 2009. With p the share of
    texts that contain a word or both,

        NPMI(v, w) = ln(p(v, w) / (p(v) p(w))) / -ln p(v, w)

    which is 1 for words that only occur together, 0 for independent ones (and for two that are in every text), -1 for
    words that never co-occur. `topics` is (topics, words), `texts` (texts, words).
    """
    present = sp.csc_array(texts > 0).astype(np.float64)
    means = []
    for topic in topics:
        mine = present[:, np.argsort(-topic, kind="stable")[:words]]
        together: Floats = (mine.T @ mine).toarray() / mine.shape[0]
        single = np.diag(together)
        first, second = np.triu_indices(len(single), 1)
        both, apart = together[first, second], single[first] * single[second]
        npmi = np.where(both == 1, 0.0, -1.0)
        some = (both > 0) & (both < 1)
        npmi[some] = np.log(both[some] / apart[some]) / -np.log(both[some])
        means.append(npmi.mean() if len(npmi) else 0.0)
    return float(np.mean(means))


class LdaMatcher(TopicMatcher[LexicalEncoding, Lda]):
    """LDA's topics, fitted on the collection being searched."""

    name = "lda"
    kind: Kind = "words"

    def __init__(self, counts: Sequence[int] = COUNTS) -> None:
        self.counts = tuple(counts)

    def encode(self, documents: Sequence[Document], progress: Progress | None = None) -> list[LexicalEncoding]:
        """Count the words of each document."""
        encodings = []
        for document in documents:
            encodings.append(LexicalEncoding(Sentences.of_document(document), terms_of(document, with_form=True).words))
            if progress:
                progress(1)
        return encodings

    def fit(self, encodings: Sequence[LexicalEncoding]) -> Lda | None:
        """Each document is a text."""
        return Lda.fit([e.stream.counts for e in encodings], self.counts)

    def fit_pair(self, a: LexicalEncoding, b: LexicalEncoding) -> Lda | None:
        """Each paragraph is a text."""
        return Lda.fit([text for e in (a, b) for text in paragraph_counts(e.stream, e.sentences)], self.counts)

    def proportions_of(self, encodings: Sequence[LexicalEncoding], topics: Lda | None) -> Floats:
        """By their words; zeros without topics."""
        return topics.proportions_of([e.stream.counts for e in encodings]) if topics else np.zeros((len(encodings), 1))

    def profile(self, encoding: LexicalEncoding, topics: Lda | None) -> TopicProfile:
        """The topics of a document and of its sentences."""
        sentences, document = encoding.stream.sentence_counts(), self.proportions_of([encoding], topics)[0]
        weights = topics.topic_weights(sentences, document) if topics else np.zeros((len(sentences), 1))
        return TopicProfile(encoding.sentences, weights, document)
