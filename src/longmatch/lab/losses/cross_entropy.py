"""A siamese encoder's loss: a pair's cosine as the chance that the two belong together."""

from torch import Tensor, nn


def pair_cross_entropy_loss(
    a: Tensor, b: Tensor, labels: Tensor, scale: float | Tensor = 10.0, middle: float | Tensor = 0.5
) -> Tensor:
    """Binary cross-entropy of a pair's chance and its label (MatchBERT, SMITH section 3.2.1), averaged over the pairs.

        chance = sigmoid(scale * (cos(a, b) - middle))

    The papers do not say how a cosine becomes a chance; with these a cosine of `middle` is an even one, and 1 is one of
    0.993; they may be learned. `a` and `b` are the vectors of the pairs (pairs, width), labels 1 alike, 0 not.

    >>> import torch
    >>> a, b = torch.tensor([[1.0, 0.0]]), torch.tensor([[0.0, 1.0]])
    >>> round(pair_cross_entropy_loss(a, b, torch.tensor([0])).item(), 4)  # ln(1 + exp(-5))
    0.0067
    """
    cosine = nn.functional.cosine_similarity(a.float(), b.float(), dim=1)
    return nn.functional.binary_cross_entropy_with_logits(scale * (cosine - middle), labels.float())
