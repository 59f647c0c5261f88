"""Masked language modelling: the model predicts masked tokens."""

import torch
from torch import Tensor, nn

IGNORED = -100  # the label of a token that is not to be predicted


def mask_words(
    ids: Tensor,
    real: Tensor,
    mask_token: int,
    vocabulary: int,
    share: float = 0.15,
    generator: torch.Generator | None = None,
) -> tuple[Tensor, Tensor]:
    """Mask a share of the real tokens as BERT does: 80 % with the mask token, 10 % with a random one, 10 % unchanged.

    `real` marks the tokens that may be masked (neither padding nor special). Returns the changed ids and the labels:
    the original token where one was chosen, IGNORED elsewhere. `generator` makes the choice reproducible.

    >>> ids = torch.arange(5, 105)
    >>> seeded = torch.Generator().manual_seed(0)
    >>> hidden, labels = mask_words(ids, torch.ones(100, dtype=torch.bool), 4, 105, generator=seeded)
    >>> bool((hidden[labels == IGNORED] == ids[labels == IGNORED]).all()), bool((labels != IGNORED).any())
    (True, True)
    """
    draw = torch.rand(ids.shape, generator=generator)
    fate = torch.rand(ids.shape, generator=generator)
    random = torch.randint(vocabulary, ids.shape, generator=generator)
    chosen = real & (draw.to(ids.device) < share)
    fate, random = fate.to(ids.device), random.to(ids.device)
    changed = torch.where(chosen & (fate < 0.8), mask_token, ids)
    changed = torch.where(chosen & (fate >= 0.8) & (fate < 0.9), random, changed)
    return changed, torch.where(chosen, ids, IGNORED)


def masked_word_loss(logits: Tensor, labels: Tensor) -> Tensor:
    """Cross-entropy averaged over the masked tokens: (..., vocabulary) and (...). 0 if there are none.

    >>> masked_word_loss(torch.zeros(1, 2, 4), torch.tensor([[3, IGNORED]])).item() == torch.tensor(4.0).log().item()
    True
    """
    rows, words = logits.float().flatten(0, -2), labels.flatten()
    total = nn.functional.cross_entropy(rows, words, ignore_index=IGNORED, reduction="sum")
    return total / (words != IGNORED).sum().clamp(min=1)
