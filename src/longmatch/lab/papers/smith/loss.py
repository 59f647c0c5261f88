"""SMITH's pre-training loss: a block that was hidden is picked out of all hidden blocks of the batch."""

import torch
from torch import Tensor, nn


def masked_block_loss(predicted: Tensor, original: Tensor) -> Tensor:
    """Cross-entropy of picking each hidden block (SMITH equations 4 to 6), averaged over them. 0 where none was hidden.

        p(h_i | s_j) = exp(s_j h_i) / sum over r of exp(s_j h_r)        L = -1/B * sum over j of log p(h_j | s_j)

    Row j of `predicted` is what the document level says of a hidden block, row j of `original` the vector the sentence
    level gave it: (hidden blocks, width) both. The other rows of `original` are the wrong answers, so the batch should
    hold the hidden blocks of many documents. Nothing in it depends on how many they are.

    >>> vectors = torch.eye(2)
    >>> round(masked_block_loss(vectors, vectors).item(), 4)  # ln(1 + 1/e)
    0.3133
    """
    if not len(predicted):
        return (predicted.sum() + original.sum()) * 0.0
    scores = predicted.float() @ original.float().T  # (hidden, candidates)
    return nn.functional.cross_entropy(scores, torch.arange(len(scores), device=scores.device))
