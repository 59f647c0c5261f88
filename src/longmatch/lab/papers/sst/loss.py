"""SST's losses of adaptive clustering: matches have similar subtopic distributions, other pairs distinct subtopics.

Pairs are laid out flat: sentences ordered by pair, then by document. `assignment` (sentences, clusters) is B, the
probability of each cluster for each sentence; if a pair has fewer clusters than there are columns, the last ones are
0. `sizes` (pairs, 2) counts the sentences of both documents.
"""

from typing import Literal

import torch
from torch import Tensor

from longmatch.lab.encoders.ragged import offsets_of, segment_ids, segment_sum

Divergence = Literal["symmetrised-kl", "jensen-shannon"]
Orthogonality = Literal["scaled", "written"]

FLOOR = 1e-3  # of shares before taking logarithms: less than that of one sentence in forty


def agreement_loss(assignment: Tensor, sizes: Tensor, divergence: Divergence = "symmetrised-kl") -> Tensor:
    """L_p (SST equation 4): the divergence of the cluster distributions of a pair's documents, (pairs,).

        p_q = 1 / l_q * sum over the sentences i of q of Max(B_i), likewise p_d          JS(p_q || p_d)

    Max keeps the largest probability of a sentence, at that cluster, and drops the others: p_q has one entry per
    cluster.

    The paper names the Jensen-Shannon divergence but writes half the sum of both Kullback-Leibler divergences, which we
    use. It is infinite where one document has no sentence in a cluster, so shares are at least FLOOR. `jensen-shannon`
    compares both with their mean. It is finite, but nearly flat for documents without a common cluster, and training
    does not always recover from there.

    >>> three = torch.tensor([[1.0, 0.0], [0.8, 0.2], [0.4, 0.6]])  # shares 1, 0 and 0.4, 0.3
    >>> round(agreement_loss(three, torch.tensor([[1, 2]])).item(), 4)  # (0.6 ln(1 / 0.4) + 0.299 ln(0.3 / 0.001)) / 2
    1.1276
    """
    p, q = cluster_shares(assignment, sizes).unbind(1)  # (pairs, clusters) each
    if divergence == "symmetrised-kl":
        p, q = p.clamp(min=FLOOR), q.clamp(min=FLOOR)
        return (0.5 * (p - q) * (p.log() - q.log())).sum(1)
    middle, tiny = (p + q) / 2, torch.finfo(p.dtype).tiny
    log_p, log_q, log_middle = (share.clamp(min=tiny).log() for share in (p, q, middle))
    return 0.5 * (p * (log_p - log_middle) + q * (log_q - log_middle)).sum(1)


def cluster_shares(assignment: Tensor, sizes: Tensor) -> Tensor:
    """The cluster distributions of equation 4, for both documents of each pair: (pairs, 2, clusters).

    They sum to less than 1 where assignments are uncertain.
    """
    counts = sizes.flatten().to(assignment.device)
    largest, cluster = assignment.float().max(1)
    document = segment_ids(offsets_of(counts))
    sums = largest.new_zeros(len(counts), assignment.shape[1]).index_put((document, cluster), largest, accumulate=True)
    return (sums / counts.clamp(min=1)[:, None]).view(*sizes.shape, -1)


def separation_loss(
    assignment: Tensor, sizes: Tensor, clusters: Tensor, orthogonality: Orthogonality = "scaled"
) -> Tensor:
    """L_n (SST equation 5): how far the clusters of a pair are from orthogonal, (pairs,).

        || B^T B - I ||_F                                 as written
        || B^T B / ||B^T B||_F - I / sqrt(m) ||_F         scaled (Bianchi et al., 2020)

    As written, B^T B = I is impossible: each row of B sums to 1, so six sentences in two clusters of three have B^T B =
    3 I and a loss of 2.83, but 2.24 if each sentence is half in either. It rewards what it should penalise. The work
    the paper cites for this term normalises both matrices; its loss is 0 for disjoint clusters of equal size, and
    largest if there is only one cluster or every sentence is split evenly.

    `clusters` (pairs,) is m, the number of clusters of each pair.

    >>> B, sizes, two = torch.eye(2).repeat(3, 1), torch.tensor([[3, 3]]), torch.tensor([2])
    >>> [round(separation_loss(B, sizes, two, how).item(), 2) for how in ("scaled", "written")]
    [0.0, 2.83]
    """
    b, columns = assignment.float(), assignment.shape[1]
    pairs = offsets_of(sizes.sum(1)).to(b.device)
    products = segment_sum((b[:, :, None] * b[:, None, :]).flatten(1), pairs)  # (pairs, clusters * clusters)
    exists = torch.arange(columns, device=b.device) < clusters.to(b.device)[:, None]
    identity = torch.diag_embed(exists.float()).flatten(1)
    if orthogonality == "scaled":
        products, identity = (m / m.norm(dim=1, keepdim=True).clamp(min=1e-12) for m in (products, identity))
    loss: Tensor = (products - identity).norm(dim=1)
    return loss


def subtopic_loss(agreement: Tensor, separation: Tensor, labels: Tensor, weight: float = 1.0) -> Tensor:
    """L_u (SST equation 6) of a batch: the mean L_p of matches plus `weight` times the mean L_n of other pairs.

    Both losses are given for all pairs (pairs,), with labels 1 for matches and 0 for others; `weight` is lambda. A
    batch should hold as many matches as other pairs (appendix B.1); a missing kind adds nothing.

    >>> two = torch.tensor([0.2, 9.0]), torch.tensor([9.0, 0.5])
    >>> round(subtopic_loss(*two, labels=torch.tensor([1, 0]), weight=10).item(), 4)
    5.2
    """
    matches, others = labels.float(), 1 - labels.float()
    of_matches = (agreement * matches).sum() / matches.sum().clamp(min=1)
    of_others = (separation * others).sum() / others.sum().clamp(min=1)
    return of_matches + weight * of_others


def modularity_loss(assignment: Tensor, edges: Tensor, weights: Tensor, sizes: Tensor, clusters: Tensor) -> Tensor:
    """DMoN's own loss (Tsitsulin et al., 2023) of each pair's graph, for the ablation without SST's losses: (pairs,).

        -1 / 2e * Tr(B^T (A - d d^T / 2e) B)  +  sqrt(m) / n * || sum over i of B_i ||  -  1

    A pair's graph has n sentences, edge weights A with row sums d and total 2e, and m clusters. Flat arguments:
    `assignment` (sentences, columns), `edges` (2, edges) source and target, `weights` (edges,), `sizes` (pairs, 2),
    `clusters` (pairs,). Self-loops are left out.

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
    return torch.sub(even, (inside - by_chance) / total)
