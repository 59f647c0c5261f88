"""DMoN's loss over flat pairs: by hand, and as torch-geometric computes it over padded matrices."""

import pytest
import torch
from torch_geometric.nn import DMoNPooling

from longmatch.lab.papers.sst.loss import modularity_loss

SIZES, TWO = torch.tensor([[3, 3]]), torch.tensor([2])
TRIANGLES = torch.tensor([(i, j) for block in ((0, 1, 2), (3, 4, 5)) for i in block for j in block if i != j]).T


def test_two_triangles_in_two_clusters_by_hand():
    """All 12 edges' ends lie inside, by chance 2 * 6 * 6 / 12 = 6 would; even clusters add nothing: -(12 - 6) / 12."""
    halves = torch.tensor([[1.0, 0.0]] * 3 + [[0.0, 1.0]] * 3)
    assert modularity_loss(halves, TRIANGLES, torch.ones(12), SIZES, TWO).item() == pytest.approx(-0.5, abs=1e-6)


def test_all_in_one_cluster_by_hand():
    """No more inside than by chance; sqrt(2) / 6 * 6 - 1 for the cluster that takes all."""
    one = torch.tensor([[1.0, 0.0]] * 6)
    assert modularity_loss(one, TRIANGLES, torch.ones(12), SIZES, TWO).item() == pytest.approx(2**0.5 - 1, abs=1e-6)


def test_flat_pairs_equal_torch_geometrics_layer_over_matrices():
    torch.manual_seed(0)
    layer, x = DMoNPooling(8, 3), torch.randn(2, 6, 8)
    matrix = torch.rand(2, 6, 6) * (1 - torch.eye(6))
    matrix = matrix + matrix.transpose(1, 2)
    b, _, _, spectral, _, collapse = layer(x, matrix.clone())
    pair, target, source = matrix.nonzero().T
    edges = torch.stack([source, target]) + 6 * pair
    loops = torch.arange(12).repeat(2, 1)  # of no weight, whatever it is
    edges, weights = torch.cat([edges, loops], dim=1), torch.cat([matrix[pair, target, source], torch.ones(12)])
    flat = modularity_loss(b.flatten(0, 1), edges, weights, torch.tensor([[2, 4], [3, 3]]), torch.tensor([3, 3]))
    assert flat.mean().item() == pytest.approx((spectral + collapse).item(), abs=1e-5)


def test_sentences_without_any_edge_have_a_finite_loss_and_gradient():
    b = torch.full((6, 2), 0.5, requires_grad=True)
    loss = modularity_loss(b, torch.arange(6).repeat(2, 1), torch.ones(6), SIZES, TWO)
    loss.sum().backward()
    assert loss.isfinite().all() and b.grad is not None and b.grad.isfinite().all()
