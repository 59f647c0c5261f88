"""How much of a batch is read at a time."""

from typing import Any

import torch

from longmatch.encoders.packed import tokens_that_fit
from longmatch.lab.training.settings import TrainingSettings


def tokens_at_once(settings: TrainingSettings, encoder: Any, device: torch.device) -> int:
    """As many tokens as were asked for; else as a GPU holds of those of `encoder`, where that is known."""
    fit = tokens_that_fit(encoder, device)
    return settings.tokens_at_once or fit or settings.token_budget(device.type == "cuda")
