"""The interface of a recipe: what a model reads at each step, its loss, and how it is validated and saved."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Generic, Protocol, Self, TypeVar

import numpy as np
import torch
from torch import Tensor
from transformers import PreTrainedModel

from longmatch.lab.encoders.packed.bert import tokens_that_fit
from longmatch.lab.training.settings import TrainingSettings
from longmatch.units.tokens import Ints


class Batch(Protocol):
    """What a model reads at one step."""

    @property
    def tokens(self) -> int:
        """The number of tokens, padding excluded."""

    def to(self, device: torch.device) -> "Batch":
        """A copy on another device."""


B = TypeVar("B", bound=Batch)


@dataclass(frozen=True)
class NoSettings:
    """For recipes that have only the settings all models share."""


USE = """\
A longmatch model: it scores how well two long documents match, and shows the passages behind the score.

```python
import longmatch as lm

matcher = lm.load({place!r})
matcher.compare(lm.read("a.pdf"), lm.read("b.pdf"))
```
"""


class Recipe(ABC, Generic[B]):
    """How one model is trained. The Trainer requests batches by step number, so a run can resume at any step.

    All sampling uses `samplers.step_rng(seed, step)`, and torch is reseeded before each batch, which fixes dropout and
    anything else drawn in `backward`. So an interrupted and resumed run ends like an uninterrupted one.
    """

    name: ClassVar[str]  # of the model, as in `longmatch train` and `longmatch.load`
    Settings: ClassVar[type] = NoSettings  # a frozen dataclass: the model's own --set keys and their defaults
    defaults: ClassVar[Mapping[str, Any]] = {}  # where they differ from those of TrainingSettings
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {}  # named settings, such as the paper's
    use: ClassVar[str] = USE  # the model card's usage section; {place} is the model's folder
    model: PreTrainedModel
    settings: TrainingSettings

    @classmethod
    @abstractmethod
    def make(cls, data: Sequence[Path], cache: Path, settings: TrainingSettings, options: Any) -> Self:
        """Open the data and create a new model; torch is already seeded.

        `options` is an instance of `Settings`; `cache` is a folder that persists between runs. With several processes,
        the first one gets here alone and the others follow when it is done.
        """

    @property
    @abstractmethod
    def steps_per_epoch(self) -> int:
        """The number of steps that read all of the training data once."""

    @abstractmethod
    def draw(self, step: int) -> B:
        """The batch of a step (0, 1, ...), from the seed and the step alone. Runs in the data loader's processes."""

    @abstractmethod
    def backward(self, model: PreTrainedModel, batch: B) -> dict[str, Tensor]:
        """Add the batch's gradient to the parameters and return the losses by name; "loss" is the one minimised.

        Called in training mode, under autocast, with the batch on the model's device.
        """

    @abstractmethod
    def validate(self, model: PreTrainedModel) -> dict[str, float]:
        """Measures on the validation split; the first selects the best weights. Higher is better unless the name
        ends in "loss".

        Called in evaluation mode, without gradients, under autocast. A measure named "threshold" is the score from
        which a pair counts as a match; that of the best weights goes into `model.config.threshold`.
        """

    @property
    def tokens_per_pass(self) -> int:
        """The most tokens of a forward pass."""
        return self.settings.token_budget(self.model.device.type == "cuda")

    def is_new(self, parameter: str) -> bool:
        """Whether a parameter, by name, belongs to a layer added to a pretrained model; such layers learn faster."""
        return False

    @abstractmethod
    def save(self, folder: Path) -> None:
        """Write config, weights and tokenizer as `longmatch.load` opens them."""

    @property
    def rule(self) -> str:
        """What `longmatch.load` opens the folder as: one of the registry's models, by default the one trained."""
        return self.name

    @property
    @abstractmethod
    def facts(self) -> Mapping[str, Any]:
        """For the model card: the training data (numbers of documents, pairs, ...) and the backbone."""


def token_budget(settings: TrainingSettings, encoder: Any, device: torch.device) -> int:
    """Tokens per forward pass: as set by the user, else what fits on the GPU with `encoder`, else the default."""
    fit = tokens_that_fit(encoder, device)
    return settings.tokens_at_once or fit or settings.token_budget(device.type == "cuda")


def step_rng(seed: int, step: int) -> np.random.Generator:
    """The random number generator of one step.

    >>> [int(step_rng(1, step).integers(1000)) for step in (7, 7, 8)]
    [777, 777, 49]
    """
    return np.random.default_rng([seed, step])


class EpochSampler:
    """Rows 0 .. count - 1, reshuffled every epoch and split into steps of nearly equal size, at most `per_step` rows.

    Every epoch holds each row exactly once, and no step is left with just a few rows.

    >>> sampler = EpochSampler(count=10, per_step=4, seed=0)
    >>> sampler.steps_per_epoch, [len(sampler.rows(step)) for step in range(3)]
    (3, [3, 3, 4])
    """

    def __init__(self, count: int, per_step: int, seed: int) -> None:
        self.count, self.seed = count, seed
        self.steps_per_epoch = -(-count // per_step)
        self._epoch, self._order = -1, np.arange(0)

    def rows(self, step: int) -> Ints:
        """The rows of a step; steps may be requested in any order."""
        epoch, place = divmod(step, self.steps_per_epoch)
        if epoch != self._epoch:
            self._epoch, self._order = epoch, step_rng(self.seed, epoch).permutation(self.count)
        first, last = (p * self.count // self.steps_per_epoch for p in (place, place + 1))
        return np.asarray(self._order[first:last], dtype=np.int64)
