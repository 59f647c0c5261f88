"""What all recipes share that learn from labelled pairs, whatever they read of them: data, draws, files, facts."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Generic, Protocol, Self

import numpy as np

from longmatch.encoders.pretrained import DEFAULT_NAME
from longmatch.lab.training.data import TrainingData
from longmatch.lab.training.recipe import B, Recipe
from longmatch.lab.training.samplers import Epochs, Ints
from longmatch.lab.training.settings import TrainingSettings


class LabelledSettings(Protocol):
    """What such a recipe's own settings say, whatever else they do."""

    @property
    def backbone(self) -> str | None:
        """A folder or hub id; the packaged MiniLM by default."""

    @property
    def validation_pairs(self) -> int | None:
        """Looked at, drawn once; by default all."""


class LabelledRecipe(Recipe[B], Generic[B]):
    """A recipe says what its model begins with; a step's pairs are drawn from its number alone."""

    model: Any
    own: Any

    def __init__(self, data: TrainingData, model: Any, tokenizer: Any, settings: TrainingSettings, own: Any) -> None:
        self.data, self.model, self.tokenizer, self.settings, self.own = data, model, tokenizer, settings, own
        self.pairs, self.held_out = data.pairs("train"), data.pairs("validation")
        self._rows = self._learnt_from()
        self._epochs = Epochs(len(self._rows), max(1, settings.documents // 2), settings.seed)

    @classmethod
    @abstractmethod
    def begin(cls, settings: TrainingSettings, own: Any) -> tuple[Any, Any]:
        """The model that training begins with, and its tokenizer."""

    def _learnt_from(self) -> Ints:
        """Which of the training pairs are drawn."""
        return np.arange(len(self.pairs))

    @classmethod
    def make(cls, data: Sequence[Path], cache: Path, settings: TrainingSettings, own: Any) -> Self:
        """Open the model and the pairs."""
        model, tokenizer = cls.begin(settings, own)
        found = TrainingData.open(data, tokenizer.backend_tokenizer, cache, **settings.of_data)
        return cls(found, model, tokenizer, settings, own)

    @property
    def steps_per_epoch(self) -> int:
        """Until every pair was drawn once."""
        return self._epochs.steps_per_epoch

    def save(self, folder: Path) -> None:
        """Config, weights and tokenizer."""
        self.model.save_pretrained(folder)
        self.tokenizer.save_pretrained(folder)

    @property
    def facts(self) -> Mapping[str, Any]:
        """For the model card."""
        return {"backbone": self.own.backbone or DEFAULT_NAME, **self.data.facts}

    def _drawn(self, step: int) -> Ints:
        """The rows of the training pairs that a step reads."""
        found: Ints = self._rows[self._epochs.rows(step)]
        return found

    @property
    def _budget(self) -> int:
        return self.settings.token_budget(self.model.device.type == "cuda")
