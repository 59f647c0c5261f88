"""How one model learns: what it reads at a step, what that costs, and how well it does on unseen data."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Generic, Protocol, Self, TypeVar

import torch
from torch import Tensor
from transformers import PreTrainedModel

from longmatch.lab.training.settings import TrainingSettings


class Batch(Protocol):
    """What a model reads at one step, laid out flat."""

    @property
    def tokens(self) -> int:
        """How many real tokens it holds."""

    def to(self, device: torch.device) -> "Batch":
        """The same on another device."""


B = TypeVar("B", bound=Batch)


@dataclass(frozen=True)
class NoSettings:
    """For a recipe that knows no settings but those that all models share."""


USE = """\
A longmatch model: it scores how well two long documents belong together, and shows which passages say so.

```python
import longmatch as lm

matcher = lm.load({place!r})
matcher.compare(lm.read("a.pdf"), lm.read("b.pdf"))
```
"""


class Recipe(ABC, Generic[B]):
    """One model's way of learning. The Trainer asks for steps by number, so a run can go on from any of them.

    Whatever is drawn comes from `samplers.chance(seed, step)`; dropout and other numbers torch draws in `backward` are
    seeded anew before each batch. So a run that was stopped and goes on ends as one that was not.
    """

    name: ClassVar[str]  # as `longmatch train` and `longmatch.load` call the model
    Settings: ClassVar[type] = NoSettings  # a frozen dataclass: the further keys of --set, with the model's defaults
    defaults: ClassVar[Mapping[str, Any]] = {}  # where the paper's differ from those of TrainingSettings
    use: ClassVar[str] = USE  # what the model card says one does with it; {place} is its folder
    model: PreTrainedModel

    @classmethod
    @abstractmethod
    def make(cls, data: Sequence[Path], cache: Path, settings: TrainingSettings, own: Any) -> Self:
        """Open the data and a new model; `own` is an object of `Settings`. Torch's seed is set already.

        `cache` is a folder that stays between runs. Of several processes the first is here alone before the others.
        """

    @property
    @abstractmethod
    def steps_per_epoch(self) -> int:
        """After so many steps all of the training data have been seen once."""

    @abstractmethod
    def draw(self, step: int) -> B:
        """The batch of a step (0, 1, ...), from the seed and the number alone. Runs in the processes that load data."""

    @abstractmethod
    def backward(self, model: PreTrainedModel, batch: B) -> dict[str, Tensor]:
        """Add the batch's gradient to the parameters; the losses by name, "loss" the one that is minimised.

        Under autocast to the precision asked for, the batch on the model's device, the model set to train.
        """

    @abstractmethod
    def validate(self, model: PreTrainedModel) -> dict[str, float]:
        """Measures on the validation split; the first one decides. Larger is better, but for a name ending in loss.

        Without gradients, under autocast, the model set to evaluate. A measure named "threshold" is the score from
        which a pair belongs together; that of the weights that are kept goes into `model.config.threshold`.
        """

    @abstractmethod
    def save(self, folder: Path) -> None:
        """Write config, weights and tokenizer as `longmatch.load` opens them."""

    @property
    @abstractmethod
    def facts(self) -> Mapping[str, Any]:
        """For the model card: what was learnt from (counts of documents, pairs, ...) and which backbone."""
