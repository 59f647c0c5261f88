"""SMITH's masked-block loss: identify each masked block among all masked blocks of the batch."""

import torch
from torch import Tensor, nn


def masked_block_loss(predicted: Tensor, original: Tensor) -> Tensor:
    """Cross-entropy of identifying each masked block (SMITH equations 4 to 6), averaged; 0 if none is masked.

        p(h_i | s_j) = exp(s_j h_i) / sum over r of exp(s_j h_r)        L = -1/B * sum over j of log p(h_j | s_j)

    Row j of `predicted` is the document level's output at a masked block, row j of `original` the sentence level's
    vector of that block: (masked blocks, width) both. The other rows of `original` are the negatives, so a batch should
    hold the masked blocks of many documents. No parameter depends on their number.

    >>> vectors = torch.eye(2)
    >>> round(masked_block_loss(vectors, vectors).item(), 4)  # ln(1 + 1/e)
    0.3133
    """
    if not len(predicted):
        return (predicted.sum() + original.sum()) * 0.0
    scores = _scores(predicted, original)
    return nn.functional.cross_entropy(scores, torch.arange(len(scores), device=scores.device))


def identified_blocks(predicted: Tensor, original: Tensor) -> int:
    """How many masked blocks have the highest probability with their own prediction.

    >>> identified_blocks(torch.eye(3), torch.eye(3)[[0, 2, 1]])
    1
    """
    if not len(predicted):
        return 0
    return int((_scores(predicted, original).argmax(1) == torch.arange(len(predicted), device=predicted.device)).sum())


def _scores(predicted: Tensor, original: Tensor) -> Tensor:
    """s_j h_i: (masked, candidates). In float32 under autocast too: bfloat16 ties close scores."""
    with torch.autocast(predicted.device.type, enabled=False):
        return predicted.float() @ original.float().T
