"""SST's losses of adaptive clustering: matches have alike subtopics, other pairs have distinct ones.

Pairs lie flat: the sentences of one pair after those of another, of its first document before those of its second.
`assignment` (sentences, clusters) is B, of each sentence the chance of each cluster; a pair may have fewer clusters
than there are columns, and then has zeros in the last ones. `sizes` (pairs, 2) counts the sentences of both documents.
"""

from typing import Literal

import torch
from torch import Tensor

from longmatch.encoders.ragged import offsets_of, segment_ids, segment_sum

Divergence = Literal["symmetrised-kl", "jensen-shannon"]
Orthogonality = Literal["scaled", "written"]

FLOOR = 1e-3  # of a share whose logarithm is taken: less than one sentence in forty can have


def agreement_loss(assignment: Tensor, sizes: Tensor, divergence: Divergence = "symmetrised-kl") -> Tensor:
    """L_p (SST equation 4): how far apart the cluster distributions of a pair's documents are: (pairs,).

        p_q = 1 / l_q * sum over the sentences i of q of Max(B_i), likewise p_d          JS(p_q || p_d)

    Max keeps a sentence's largest chance, in that cluster's place, and drops the others: p_q has an entry a cluster.

    The paper names the Jensen-Shannon divergence and writes half the sum of both Kullback-Leibler divergences, which is
    what we take. It is infinite where one document has no sentence in a cluster, so a share of FLOOR stands for none.
    `jensen-shannon` compares either with the mean of both. It is finite, but all but flat where two documents have no
    cluster in common, and from there training does not always find back.

    >>> three = torch.tensor([[1.0, 0.0], [0.8, 0.2], [0.4, 0.6]])  # shares 1, 0 and 0.4, 0.3
    >>> round(agreement_loss(three, torch.tensor([[1, 2]])).item(), 4)  # (0.6 ln(1 / 0.4) + 0.299 ln(0.3 / 0.001)) / 2
    1.1276
    """
    p, q = cluster_shares(assignment, sizes).unbind(1)  # (pairs, clusters) each
    if divergence == "symmetrised-kl":
        p, q = p.clamp(min=FLOOR), q.clamp(min=FLOOR)
        return (0.5 * (p - q) * (p.log() - q.log())).sum(1)
    middle = (p + q) / 2
    return 0.5 * (_times_log_ratio(p, middle) + _times_log_ratio(q, middle)).sum(1)


def cluster_shares(assignment: Tensor, sizes: Tensor) -> Tensor:
    """The cluster distributions of equation 4, of either document of each pair: (pairs, 2, clusters).

    They sum up to less than 1 as far as sentences are in doubt.
    """
    counts = sizes.flatten().to(assignment.device)
    largest, cluster = assignment.float().max(1)
    document = segment_ids(offsets_of(counts))
    sums = largest.new_zeros(len(counts), assignment.shape[1]).index_put((document, cluster), largest, accumulate=True)
    return (sums / counts.clamp(min=1)[:, None]).view(*sizes.shape, -1)


def separation_loss(
    assignment: Tensor, sizes: Tensor, clusters: Tensor, orthogonality: Orthogonality = "scaled"
) -> Tensor:
    """L_n (SST equation 5): how far a pair's clusters are from having no sentence in common: (pairs,).

        || B^T B - I ||_F                                 as written
        || B^T B / ||B^T B||_F - I / sqrt(m) ||_F         scaled (Bianchi et al., 2020)

    As written, B^T B = I cannot be: each row of B sums up to 1, so six sentences in two clusters of three have B^T B =
    3 I and a loss of 2.83, but 2.24 where each sentence is half in either. It rewards what it is meant against. The
    work the paper cites for this term brings both matrices to one length; its loss is 0 where the clusters have no
    sentence in common and are equally large, and largest where all is one cluster or every sentence in even doubt.

    `clusters` (pairs,) is m, how many clusters each pair has.

    >>> B, sizes, two = torch.eye(2).repeat(3, 1), torch.tensor([[3, 3]]), torch.tensor([2])
    >>> [round(separation_loss(B, sizes, two, how).item(), 2) for how in ("scaled", "written")]
    [0.0, 2.83]
    """
    b, columns = assignment.float(), assignment.shape[1]
    pairs = offsets_of(sizes.sum(1)).to(b.device)
    products = segment_sum((b[:, :, None] * b[:, None, :]).flatten(1), pairs)  # (pairs, clusters * clusters)
    own = torch.arange(columns, device=b.device) < clusters.to(b.device)[:, None]
    identity = torch.diag_embed(own.float()).flatten(1)
    if orthogonality == "scaled":
        products, identity = (m / m.norm(dim=1, keepdim=True).clamp(min=1e-12) for m in (products, identity))
    loss: Tensor = (products - identity).norm(dim=1)
    return loss


def subtopic_loss(agreement: Tensor, separation: Tensor, labels: Tensor, weight: float = 1.0) -> Tensor:
    """L_u (SST equation 6) of a batch: the mean L_p of the pairs that match, plus `weight` times the others' mean L_n.

    Of all pairs (pairs,) both losses are given, and whether they match (1) or not (0). A batch should hold as many of
    one kind as of the other (appendix B.1); a kind that is missing adds nothing.

    >>> two = torch.tensor([0.2, 9.0]), torch.tensor([9.0, 0.5])
    >>> round(subtopic_loss(*two, labels=torch.tensor([1, 0]), weight=10).item(), 4)
    5.2
    """
    matches, others = labels.float(), 1 - labels.float()
    return _mean(agreement, matches) + weight * _mean(separation, others)


def _times_log_ratio(p: Tensor, q: Tensor) -> Tensor:
    """p * log(p / q), and 0 where p is 0."""
    tiny = torch.finfo(p.dtype).tiny
    return p * (p.clamp(min=tiny).log() - q.clamp(min=tiny).log())


def _mean(values: Tensor, weights: Tensor) -> Tensor:
    return (values * weights).sum() / weights.sum().clamp(min=1)


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
