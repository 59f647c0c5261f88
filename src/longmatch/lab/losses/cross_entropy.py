"""Binary cross-entropy of siamese encoders, with a probability derived from the cosine."""

from torch import Tensor, nn


def pair_cross_entropy_loss(
    a: Tensor, b: Tensor, labels: Tensor, scale: float | Tensor = 10.0, middle: float | Tensor = 0.5
) -> Tensor:
    """Binary cross-entropy over pairs (MatchBERT, SMITH section 3.2.1), averaged, with the probability of a match

        p = sigmoid(scale * (cos(a, b) - middle))

    The papers do not define how a cosine becomes a probability. Here a cosine of `middle` gives 0.5, and with the
    defaults a cosine of 1 gives 0.993; both parameters may be learned. `a` and `b` are the vectors of the pairs (pairs,
    width), labels 1 or 0.

    >>> import torch
    >>> a, b = torch.tensor([[1.0, 0.0]]), torch.tensor([[0.0, 1.0]])
    >>> round(pair_cross_entropy_loss(a, b, torch.tensor([0])).item(), 4)  # ln(1 + exp(-5))
    0.0067
    """
    cosine = nn.functional.cosine_similarity(a.float(), b.float(), dim=1)
    return nn.functional.binary_cross_entropy_with_logits(scale * (cosine - middle), labels.float())
