"""CoLDE's supervised contrastive loss over the sections of documents."""

import torch
from torch import Tensor, nn


def supervised_contrastive_loss(vectors: Tensor, labels: Tensor, temperature: float = 0.5) -> Tensor:
    """Supervised contrastive loss (Khosla et al., 2020; CoLDE section 3.4), averaged over the anchors.

    For each anchor i, with positives P(i), the other rows of its label:

        L_i = -1 / |P(i)| * sum over p in P(i) of log( exp(z_i z_p / t) / sum over k != i of exp(z_i z_k / t) )

    The batch holds the sections of N documents (2N rows for two sections each): (rows, width). Rows are normalised. The
    paper sums over anchors; the mean differs only by the batch size. Anchors without a positive are ignored. If matches
    are not classes (a cites b and b cites c), `labels` marks them for every two rows: (rows, rows).

    >>> vectors = torch.tensor([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 1.0]])
    >>> bool(supervised_contrastive_loss(vectors, torch.tensor([0, 0, 1, 1]))
    ...      < supervised_contrastive_loss(vectors, torch.tensor([0, 1, 0, 1])))
    True
    """
    if len(vectors) < 2:
        return vectors.float().sum() * 0.0  # a zero loss with a gradient
    z = nn.functional.normalize(vectors.float(), dim=1)
    itself = torch.eye(len(z), dtype=torch.bool, device=z.device)
    similarity = (z @ z.T / temperature).masked_fill(itself, float("-inf"))
    log_probability = (similarity - similarity.logsumexp(1, keepdim=True)).masked_fill(itself, 0.0)
    positive = (labels.bool() if labels.dim() == 2 else labels[:, None] == labels) & ~itself
    counts = positive.sum(1)
    losses = -(log_probability * positive).sum(1) / counts.clamp(min=1)
    return losses.sum() / (counts > 0).sum().clamp(min=1)
