"""The graph of adaptive clustering: worked by hand, and flat over many pairs as over one."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from longmatch.lab.papers.sst.graph import SentenceGraph

LINE = torch.tensor([[1.0, 0.0], [0.6, 0.8], [0.0, 1.0]])  # cosines 0.6, 0.8 and, of the ends, 0


def dense(graph: SentenceGraph) -> torch.Tensor:
    found = torch.zeros(len(graph.vectors), len(graph.vectors))
    found[graph.edges[1], graph.edges[0]] = graph.weights
    return found


def unit(rows: int, seed: int) -> torch.Tensor:
    return torch.nn.functional.normalize(torch.randn(rows, 8, generator=torch.Generator().manual_seed(seed)), dim=1)


def test_weights_are_cosines_over_the_roots_of_both_row_sums():
    """Row sums with the loops: 1 + 0.6, 0.6 + 1 + 0.8, 0.8 + 1."""
    sums = [1.6, 2.4, 1.8]
    cosines = [[1, 0.6, 0], [0.6, 1, 0.8], [0, 0.8, 1]]
    by_hand = [[c / math.sqrt(sums[i] * sums[j]) for j, c in enumerate(row)] for i, row in enumerate(cosines)]
    torch.testing.assert_close(dense(SentenceGraph.of(LINE, torch.tensor([[1, 2]]))), torch.tensor(by_hand))


def test_a_sentence_keeps_its_nearest_and_those_that_keep_it():
    """With one neighbour each, the first keeps the second, which keeps the third: the second has both."""
    graph = SentenceGraph.of(LINE, torch.tensor([[1, 2]]), neighbours=1)
    assert (dense(graph) > 0).tolist() == [[True, True, False], [True, True, True], [False, True, True]]
    apart = unit(30, 0)
    few = SentenceGraph.of(apart, torch.tensor([[10, 20]]), neighbours=3)
    best = (apart @ apart.T).fill_diagonal_(0).topk(3, dim=1).indices
    kept = {(i, j) for i, row in enumerate(best.tolist()) for j in row if apart[i] @ apart[j] > 0}
    expected = kept | {(j, i) for i, j in kept} | {(i, i) for i in range(30)}
    assert set(map(tuple, few.edges.T.tolist())) == expected


def test_sentences_that_point_away_from_all_others_have_themselves():
    graph = SentenceGraph.of(torch.tensor([[1.0, 0.0], [-1.0, 0.0]]), torch.tensor([[1, 1]]))
    assert graph.edges.tolist() == [[0, 1], [0, 1]] and graph.weights.tolist() == [1, 1]


def test_of_equally_near_sentences_the_earlier_are_kept():
    same = torch.tensor([[1.0, 0.0]]).repeat(6, 1)
    graph = SentenceGraph.of(same, torch.tensor([[3, 3]]), neighbours=1)
    assert dense(graph)[5].nonzero().flatten().tolist() == [0, 5]


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=5), st.integers(0, 999))
def test_a_batch_of_pairs_is_the_pairs_one_by_one(sizes, seed):
    counts = torch.tensor(sizes)
    vectors = unit(int(counts.sum()), seed)
    batch = dense(SentenceGraph.of(vectors, counts, neighbours=2))
    parts = vectors.split(counts.sum(1).tolist())
    alone = [dense(SentenceGraph.of(part, counts[i : i + 1], neighbours=2)) for i, part in enumerate(parts)]
    torch.testing.assert_close(batch, torch.block_diag(*[part for part in alone if len(part)])[: len(batch)])


@pytest.mark.parametrize("scale", [1.0, 0.5])
def test_the_graph_is_symmetric_and_no_row_outweighs_its_root(scale):
    matrix = dense(SentenceGraph.of(unit(12, 3) * scale**0.5, torch.tensor([[5, 7]])))
    torch.testing.assert_close(matrix, matrix.T)
    assert torch.linalg.eigvalsh(matrix).max() <= 1 + 1e-5  # D^-1/2 A D^-1/2
