"""Explanation of topic similarity: the sentences about the other document's topics."""

from dataclasses import dataclass

import numpy as np

from longmatch.lab.baselines.topics.similarity import Floats, proportions, topic_similarity
from longmatch.matching.align import Evidence, alignments, merge
from longmatch.matching.match import Grid, Level, Match
from longmatch.matching.sentences import Sentences
from longmatch.ragged import segment_sum


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
