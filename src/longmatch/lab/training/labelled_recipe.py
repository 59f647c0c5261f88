"""Base class of the recipes that learn from labelled pairs: data, batches, saving, card."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Generic, Protocol, Self

import numpy as np

from longmatch.encoders.pretrained import DEFAULT_NAME
from longmatch.lab.encoders.checkpoint import save_checkpoint
from longmatch.lab.training.data import TrainingData
from longmatch.lab.training.recipe import B, Recipe
from longmatch.lab.training.samplers import EpochSampler
from longmatch.lab.training.settings import TrainingSettings
from longmatch.units.tokens import Ints


class LabelledSettings(Protocol):
    """The settings that all such recipes have."""

    @property
    def backbone(self) -> str | None:
        """A folder or hub id; the packaged MiniLM by default."""

    @property
    def validation_pairs(self) -> int | None:
        """The number of validation pairs, sampled once; all by default."""


class LabelledRecipe(Recipe[B], Generic[B]):
    """A recipe over labelled pairs; a subclass creates the initial model. Steps sample pairs by their number alone."""

    model: Any
    options: Any

    def __init__(
        self, data: TrainingData, model: Any, tokenizer: Any, settings: TrainingSettings, options: Any
    ) -> None:
        self.data, self.model, self.tokenizer, self.settings, self.options = data, model, tokenizer, settings, options
        self.pairs, self.held_out = data.pairs("train"), data.pairs("validation")
        self._rows = self._training_rows()
        self._epochs = EpochSampler(len(self._rows), max(1, settings.documents // 2), settings.seed)

    @classmethod
    @abstractmethod
    def new_model(cls, settings: TrainingSettings, options: Any) -> tuple[Any, Any]:
        """The initial model and its tokenizer."""

    def _training_rows(self) -> Ints:
        """The rows of the training pairs that batches are sampled from."""
        return np.arange(len(self.pairs))

    @classmethod
    def make(cls, data: Sequence[Path], cache: Path, settings: TrainingSettings, options: Any) -> Self:
        """Create the model and open the pairs."""
        model, tokenizer = cls.new_model(settings, options)
        opened = TrainingData.open(data, tokenizer.backend_tokenizer, cache, **settings.of_data)
        return cls(opened, model, tokenizer, settings, options)

    @property
    def steps_per_epoch(self) -> int:
        """The number of steps that read every pair once."""
        return self._epochs.steps_per_epoch

    def save(self, folder: Path) -> None:
        """Write config, weights and tokenizer."""
        save_checkpoint(self.model, folder)
        self.tokenizer.save_pretrained(folder)

    @property
    def facts(self) -> Mapping[str, Any]:
        """For the model card."""
        return {"backbone": self.options.backbone or DEFAULT_NAME, **self.data.facts}

    def _batch_rows(self, step: int) -> Ints:
        """The rows of the training pairs in a step's batch."""
        rows: Ints = self._rows[self._epochs.rows(step)]
        return rows
