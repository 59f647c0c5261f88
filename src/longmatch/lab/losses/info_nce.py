"""InfoNCE: identify each query's document among those of the batch."""

import torch
from torch import Tensor, nn


def info_nce_loss(
    queries: Tensor, documents: Tensor, temperature: float = 0.05, answers: Tensor | None = None
) -> Tensor:
    """InfoNCE with in-batch negatives (van den Oord et al., 2018; SST's dual encoder), averaged over the queries.

        L_i = -log( exp(q_i d_i / t) / sum over j of exp(q_i d_j / t) )

    Row i of `documents` is the positive of row i of `queries` (queries, width); further rows are extra negatives. Rows
    are normalised. If a query has several positives in the batch, `answers` (queries, documents) marks them, and those
    other than its own are left out of its sum.

    >>> vectors = torch.eye(2)
    >>> round(info_nce_loss(vectors, vectors, temperature=1.0).item(), 4)  # ln(1 + 1/e)
    0.3133
    """
    q = nn.functional.normalize(queries.float(), dim=1)
    d = nn.functional.normalize(documents.float(), dim=1)
    positive = torch.arange(len(q), device=q.device)
    similarity = q @ d.T / temperature
    if answers is not None:
        others = answers.bool().index_put((positive, positive), torch.zeros_like(positive, dtype=torch.bool))
        similarity = similarity.masked_fill(others, float("-inf"))
    return nn.functional.cross_entropy(similarity, positive)
