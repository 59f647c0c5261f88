"""Why two documents have the same topics: the sentences that speak of what the other is about."""

from dataclasses import dataclass

import numpy as np
import torch

from longmatch.encoders.ragged import segment_sum
from longmatch.lab.baselines.topics.similarity import Floats, shares, topic_similarity
from longmatch.matching.align import Evidence, alignments, merge
from longmatch.matching.match import Grid, Level, Match
from longmatch.matching.sentences import Sentences


@dataclass(frozen=True)
class Side:
    """A document's sentences, how much each speaks of each topic (sentences, topics), and the document's shares."""

    sentences: Sentences
    spoken: Floats
    shares: Floats  # (topics,)


def explain(a: Side, b: Side, name: str) -> Match:
    """A sentence's part in the match: how much it speaks of each topic, times the other document's share of that.

    It is credited to the pair it forms with the sentence of the other document that speaks most of the same topics.
    """
    return Match(
        a=a.sentences.document,
        b=b.sentences.document,
        score=float(topic_similarity(a.shares[None], b.shares[None])[0, 0]),
        sections=_grid(a, b, "sections"),
        alignments=alignments(
            merge([_gains(a, b)], [_gains(b, a)]),
            (a.sentences.passage, b.sentences.passage),
            lambda i, j: (_directions(a.spoken)[i] * _directions(b.spoken)[j]).sum(1).clip(0, 1),
            lambda i, j: (),
        ),
        model=name,
        parts={"topics": 1.0},
        grids=lambda level: _grid(a, b, level),
    )


def _gains(mine: Side, theirs: Side) -> Evidence:
    partner = (_directions(mine.spoken) @ _directions(theirs.spoken).T).argmax(1)
    gains = mine.spoken @ theirs.shares
    return Evidence(partner.astype(np.int64), gains / max(float(gains.sum()), 1e-12))


def _grid(a: Side, b: Side, level: Level) -> Grid:
    """The similarity of the topics of every two groups of sentences."""
    mine, theirs = a.sentences.groups(level), b.sentences.groups(level)
    rows, columns = (
        shares(segment_sum(torch.from_numpy(side.spoken), groups.offsets).numpy())
        for side, groups in ((a, mine), (b, theirs))
    )
    scores = topic_similarity(rows, columns).astype(np.float32)
    return Grid(mine.labels, theirs.labels, mine.spans, theirs.spans, scores)


def _directions(spoken: Floats) -> Floats:
    lengths = np.linalg.norm(spoken, axis=1, keepdims=True)
    return np.asarray(np.divide(spoken, lengths, out=np.zeros_like(spoken), where=lengths > 0))
