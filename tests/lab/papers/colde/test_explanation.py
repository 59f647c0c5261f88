"""What a chunk contributes, against documents taken apart chunk by chunk."""

import numpy as np
import pytest
import torch

from longmatch.lab import explanation
from longmatch.lab.papers.colde.matcher import contributions
from tests.lab.papers.colde.tiny_colde import tiny_matcher


@pytest.fixture(scope="module")
def matcher(tiny_bert):
    return tiny_matcher(tiny_bert)


@pytest.fixture(scope="module")
def encodings(matcher, examples):
    return matcher.encode([examples["coming-back-slowly.md"], examples["the-stream-that-turned.md"]])


def vector(model, encoding, rows):
    """A document's vector, had it only these chunks."""
    if not rows:
        return torch.zeros_like(encoding.vector)
    part, lengths = (torch.from_numpy(values)[rows] for values in (encoding.section_ids, encoding.chunks.lengths))
    alone = torch.zeros(len(rows), dtype=torch.long)
    with torch.no_grad():
        return model.aggregate(encoding.vectors[rows], part, alone, lengths).documents[0]


def slow_contributions(model, mine, theirs, runs):
    everything = list(range(len(mine.section_ids)))
    found = []
    for run in runs:
        without = vector(model, mine, [i for i in everything if i not in run]) @ theirs.vector
        alone = vector(model, mine, list(run)) @ theirs.vector
        gain = max(0.0, float(mine.vector @ theirs.vector - without + alone) / 2)
        found += [gain / len(run)] * len(run)
    return found


def test_a_chunk_contributes_the_mean_of_what_it_takes_away_and_what_it_brings_alone(matcher, encodings):
    a, b = encodings
    expected = slow_contributions(matcher.model, a, b, [[i] for i in range(len(a.section_ids))])
    assert len(expected) > 10 and max(expected) > 0
    assert contributions(matcher.model, a, b) == pytest.approx(expected, abs=1e-5)


def test_neighbours_are_left_out_together_where_there_are_very_many_chunks(matcher, encodings, monkeypatch):
    monkeypatch.setattr(explanation, "MOST_RUNS", 4)
    a, b = encodings
    runs = [run.tolist() for run in np.array_split(np.arange(len(a.section_ids)), 4)]
    assert contributions(matcher.model, a, b) == pytest.approx(slow_contributions(matcher.model, a, b, runs), abs=1e-5)


def test_a_document_of_one_chunk_carries_the_whole_cosine(matcher, encodings):
    mine = encodings[0]
    single = matcher.encode([mine.document])[0]
    only = type(single)(
        single.chunks, single.section_ids[:1], single.vectors[:1], single.attended[:1], single.attention[:1, :1],
        single.sections[:1], vector(matcher.model, single, [0]), 1.0,
    )  # fmt: skip
    assert contributions(matcher.model, only, only) == pytest.approx([1.0], abs=1e-5)


def test_the_chunks_a_chunk_is_credited_with_are_those_most_like_it(matcher, encodings):
    a, b = encodings
    match = matcher.explain(a, b)
    nearest = match.passages.scores.argmax(1), match.passages.scores.argmax(0)
    starts = {int(s): i for i, s in enumerate(a.chunks.starts)}, {int(s): i for i, s in enumerate(b.chunks.starts)}
    for alignment in match.alignments:
        i, j = starts[0][alignment.a.start], starts[1][alignment.b.start]
        assert nearest[0][i] == j or nearest[1][j] == i
