"""Masked language modelling: some words are hidden, and the model says which they were."""

import torch
from torch import Tensor, nn

IGNORED = -100  # the label of a token that was not hidden


def mask_words(
    ids: Tensor,
    real: Tensor,
    mask_token: int,
    vocabulary: int,
    share: float = 0.15,
    generator: torch.Generator | None = None,
) -> tuple[Tensor, Tensor]:
    """Hide a share of the real tokens, as BERT does: 80 % by the mask, 10 % by a random token, 10 % left as they are.

    `real` marks the tokens that may be hidden (neither padding nor special). Returns the changed ids and the labels:
    the token itself where one was hidden, IGNORED elsewhere. The masks come from `generator`, so a seed repeats them.

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
    """Cross-entropy of the hidden tokens, averaged over them: (..., vocabulary) and (...). 0 where none was hidden.

    >>> masked_word_loss(torch.zeros(1, 2, 4), torch.tensor([[3, IGNORED]])).item() == torch.tensor(4.0).log().item()
    True
    """
    rows, words = logits.float().flatten(0, -2), labels.flatten()
    total = nn.functional.cross_entropy(rows, words, ignore_index=IGNORED, reduction="sum")
    return total / (words != IGNORED).sum().clamp(min=1)
