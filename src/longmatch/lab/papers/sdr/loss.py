"""SDR's contrastive loss: sentences of one paragraph become similar, sentences of different documents orthogonal."""

from torch import Tensor, nn


def margin_contrastive_loss(p: Tensor, q: Tensor, labels: Tensor, margin: float = 1.0) -> Tensor:
    """Margin contrastive loss on cosines (Hadsell et al., 2006; SDR equations 1 and 2), averaged over the pairs.

        1 - cos(p, q)                    for a pair from one paragraph (label 1)
        max(0, cos(p, q) - (1 - m))      for a pair from different documents (label 0)

    With m = 1 negatives are pushed to be orthogonal, not opposite; m = 2 pushes them to -1 (section 4.6).
    `p` and `q` are the sentence vectors of the pairs: (pairs, width).

    >>> import torch
    >>> a, b = torch.tensor([[1.0, 0.0]]), torch.tensor([[0.0, 1.0]])
    >>> margin_contrastive_loss(a, b, torch.tensor([1])).item(), margin_contrastive_loss(a, b, torch.tensor([0])).item()
    (1.0, 0.0)
    """
    cosine = nn.functional.cosine_similarity(p.float(), q.float(), dim=1)
    negative = (cosine - (1 - margin)).clamp(min=0)
    return (labels * (1 - cosine) + (1 - labels) * negative).mean()
