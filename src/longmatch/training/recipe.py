"""How one model learns: what it reads at a step, what that costs, and how well it does on unseen data."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

import torch
from torch import Tensor
from transformers import PreTrainedModel


class Batch(Protocol):
    """What a model reads at one step, laid out flat."""

    @property
    def tokens(self) -> int:
        """How many real tokens it holds."""

    def to(self, device: torch.device) -> "Batch":
        """The same on another device."""


B = TypeVar("B", bound=Batch)


class Recipe(ABC, Generic[B]):
    """One model's way of learning. The Trainer asks for steps by number, so a run can go on from any of them."""

    name: str  # as `longmatch train` and `longmatch.load` call the model
    model: PreTrainedModel

    @property
    @abstractmethod
    def steps_per_epoch(self) -> int:
        """After so many steps all of the training data have been seen once."""

    @abstractmethod
    def draw(self, step: int) -> B:
        """The batch of a step, from the seed and the step's number alone. Runs in the processes that load data."""

    @abstractmethod
    def backward(self, model: PreTrainedModel, batch: B) -> dict[str, Tensor]:
        """Add the batch's gradient to the parameters; the losses by name, "loss" the one that is minimised."""

    @abstractmethod
    def validate(self, model: PreTrainedModel) -> dict[str, float]:
        """Measures on the validation split; the first one decides. Larger is better, but for a name ending in loss."""

    @abstractmethod
    def save(self, folder: Path) -> None:
        """Write config, weights and tokenizer as `longmatch.load` opens them."""

    @property
    @abstractmethod
    def facts(self) -> Mapping[str, Any]:
        """For the model card: the data, the backbone and the model's own settings."""
