"""CoLDE's loss, which the siamese baseline `first` shares: rows with the same label are pulled together."""

import torch
from torch import Tensor, nn


def supervised_contrastive_loss(
    vectors: Tensor, labels: Tensor, temperature: float = 0.5, normalised: bool = True
) -> Tensor:
    """Supervised contrastive loss (Khosla et al., 2020; CoLDE section 3.3), averaged over the anchors.

    For each anchor i, with positives P(i), the other rows of its label:

        L_i = -1 / |P(i)| * sum over p in P(i) of log( exp(z_i z_p / t) / sum over k != i of exp(z_i z_k / t) )

    `vectors` (rows, width) are the sections of N documents, 2N rows for two sections each. They are normalised here, as
    by Khosla et al.; CoLDE's text does not say so, and with `normalised=False` z is taken as it is.
    The paper sums over the anchors; the mean differs by a constant factor. Anchors without a positive are left out.
    `labels` is (rows,), or (rows, rows) where matching is not a matter of classes (a cites b and b cites c): true where
    two rows match.

    >>> vectors = torch.tensor([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 1.0]])
    >>> bool(supervised_contrastive_loss(vectors, torch.tensor([0, 0, 1, 1]))
    ...      < supervised_contrastive_loss(vectors, torch.tensor([0, 1, 0, 1])))
    True
    """
    if len(vectors) < 2:
        return vectors.float().sum() * 0.0  # nothing to contrast: a loss of 0 with a gradient of 0
    z = nn.functional.normalize(vectors.float(), dim=1) if normalised else vectors.float()
    itself = torch.eye(len(z), dtype=torch.bool, device=z.device)
    similarity = (z @ z.T / temperature).masked_fill(itself, float("-inf"))
    log_probability = (similarity - similarity.logsumexp(1, keepdim=True)).masked_fill(itself, 0.0)
    positive = (labels.bool() if labels.dim() == 2 else labels[:, None] == labels) & ~itself
    counts = positive.sum(1)
    losses = -(log_probability * positive).sum(1) / counts.clamp(min=1)
    return losses.sum() / (counts > 0).sum().clamp(min=1)
