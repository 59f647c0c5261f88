"""DMoN's own loss: clusters with more edges inside them than chance would put there, and none that takes all."""

import torch
from torch import Tensor

from longmatch.encoders.ragged import offsets_of, segment_ids, segment_sum


def modularity_loss(assignment: Tensor, edges: Tensor, weights: Tensor, sizes: Tensor, clusters: Tensor) -> Tensor:
    """DMoN's loss (Tsitsulin et al., 2023) of each pair's graph: what is left to learn without SST's losses: (pairs,).

        -1 / 2e * Tr(B^T (A - d d^T / 2e) B)  +  sqrt(m) / n * || sum over i of B_i ||  -  1

    A pair's graph has n sentences, A their edges' weights, d the sums of its rows, 2e the sum of those, and m clusters.
    The pairs lie flat: `assignment` (sentences, columns), `edges` (2, edges) from and to, `weights` (edges,), `sizes`
    (pairs, 2), `clusters` (pairs,). Edges from a sentence to itself say nothing of others and are left out.

    >>> two = torch.tensor([[0, 1], [1, 0]]), torch.ones(2), torch.tensor([[1, 1]]), torch.tensor([2])
    >>> round(modularity_loss(torch.eye(2), *two).item(), 4)  # nothing inside, (1 + 1) / 2 by chance; even clusters
    0.5
    """
    b = assignment.float()
    pairs = offsets_of(sizes.sum(1)).to(b.device)
    pair, count = segment_ids(pairs), sizes.sum(1).to(b.device).clamp(min=1)
    weights = torch.where(edges[0] == edges[1], 0.0, weights.float())
    degrees = b.new_zeros(len(b)).index_add(0, edges[1], weights)
    total = b.new_zeros(len(pairs) - 1).index_add(0, pair, degrees).clamp(min=1e-9)
    shared = weights * (b[edges[0]] * b[edges[1]]).sum(1)
    inside = b.new_zeros(len(pairs) - 1).index_add(0, pair[edges[1]], shared)
    by_chance = segment_sum(degrees[:, None] * b, pairs).square().sum(1) / total
    even = clusters.to(b.device).sqrt() / count * segment_sum(b, pairs).norm(dim=1) - 1
    loss: Tensor = even - (inside - by_chance) / total
    return loss
