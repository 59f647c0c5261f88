"""What both topic models share: vocabulary, similarity of topic proportions, and its explanation."""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from longmatch.lexical.terms import Counts, Hashes
from longmatch.matching.align import Evidence, alignments, merge
from longmatch.matching.match import Grid, Level, Match
from longmatch.matching.sentences import Sentences
from longmatch.ragged import segment_sum

Floats = npt.NDArray[np.float64]
MAX_WORDS = 20_000


def topic_similarity(first: Floats, second: Floats) -> Floats:
    """1 minus the Jensen-Shannon divergence in bits: 1 for equal proportions, 0 for no topic in common.

    (n, topics) and (m, topics), with rows summing to 1 -> (n, m). A row of zeros is a text with unknown topics; its
    similarity to anything is 0.

    >>> topic_similarity(np.array([[1.0, 0.0], [0.0, 0.0]]), np.array([[1.0, 0.0], [0.5, 0.5], [0.0, 1.0]])).round(4)
    array([[1.    , 0.6887, 0.    ],
           [0.    , 0.    , 0.    ]])
    """
    entropy, known = _entropy(second), second.sum(1) > 0
    rows = [
        1 - _entropy((row + second) / 2) + (_entropy(row[None])[0] + entropy) / 2
        if row.sum()
        else np.zeros(len(second))
        for row in first
    ]
    similarity = np.array(rows).reshape(len(first), len(second))
    return np.asarray(np.where(known, similarity, 0.0).clip(0.0, 1.0), dtype=np.float64)


def proportions(weights: Floats) -> Floats:
    """Each row divided by its sum; rows of zeros stay zero."""
    total = weights.sum(1, keepdims=True)
    return np.asarray(np.divide(weights, total, out=np.zeros_like(weights, dtype=np.float64), where=total > 0))


def _entropy(rows: Floats) -> Floats:
    """The entropy of each row, in bits."""
    logs = np.log2(rows, out=np.zeros_like(rows), where=rows > 0)
    return np.asarray(-(rows * logs).sum(1), dtype=np.float64)


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


@dataclass(frozen=True)
class TopicProfile:
    """A document's sentences, their topic weights (sentences, topics), and the document's topic proportions."""

    sentences: Sentences
    topic_weights: Floats
    proportions: Floats  # (topics,)


def explain(a: TopicProfile, b: TopicProfile, name: str) -> Match:
    """A sentence contributes its topic weights times the other document's topic proportions.

    The contribution is credited to its pair with the sentence of the other document that has the most similar topics.
    """
    return Match(
        a=a.sentences.document,
        b=b.sentences.document,
        score=float(topic_similarity(a.proportions[None], b.proportions[None])[0, 0]),
        sections=_grid(a, b, "sections"),
        alignments=alignments(
            merge([_gains(a, b)], [_gains(b, a)]),
            (a.sentences.passage, b.sentences.passage),
            lambda i, j: (_unit_rows(a.topic_weights)[i] * _unit_rows(b.topic_weights)[j]).sum(1).clip(0, 1),
            lambda i, j: (),
        ),
        model=name,
        parts={"topics": 1.0},
        grids=lambda level: _grid(a, b, level),
    )


def _gains(mine: TopicProfile, theirs: TopicProfile) -> Evidence:
    partner = (_unit_rows(mine.topic_weights) @ _unit_rows(theirs.topic_weights).T).argmax(1)
    gains = mine.topic_weights @ theirs.proportions
    return Evidence(partner.astype(np.int64), gains / max(float(gains.sum()), 1e-12))


def _grid(a: TopicProfile, b: TopicProfile, level: Level) -> Grid:
    """The topic similarity of every two groups of sentences."""
    mine, theirs = a.sentences.groups(level), b.sentences.groups(level)
    rows, columns = (
        proportions(segment_sum(side.topic_weights, groups.offsets)) for side, groups in ((a, mine), (b, theirs))
    )
    scores = topic_similarity(rows, columns).astype(np.float32)
    return Grid(mine.labels, theirs.labels, mine.spans, theirs.spans, scores)


def _unit_rows(topic_weights: Floats) -> Floats:
    lengths = np.linalg.norm(topic_weights, axis=1, keepdims=True)
    return np.asarray(np.divide(topic_weights, lengths, out=np.zeros_like(topic_weights), where=lengths > 0))
