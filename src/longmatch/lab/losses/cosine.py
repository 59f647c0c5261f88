"""Squared error of a pair's cosine, the plain alternative to a contrastive loss."""

from torch import Tensor, nn


def cosine_loss(a: Tensor, b: Tensor, labels: Tensor) -> Tensor:
    """The squared difference of cos(a, b) and the label (1 match, 0 not), averaged over the pairs (CoLDE without CL).

    `a` and `b` are the vectors of the pairs: (pairs, width).

    >>> import torch
    >>> a, b = torch.tensor([[1.0, 0.0], [1.0, 0.0]]), torch.tensor([[1.0, 0.0], [0.0, 1.0]])
    >>> cosine_loss(a, b, torch.tensor([1, 1])).item()
    0.5
    """
    cosine = nn.functional.cosine_similarity(a.float(), b.float(), dim=1)
    return nn.functional.mse_loss(cosine, labels.float())
