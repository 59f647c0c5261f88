"""A tiny real recipe: a network of two layers with dropout learns a weighted sum from drawn numbers."""

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, ClassVar

import torch
from torch import Tensor, nn
from transformers import PretrainedConfig, PreTrainedModel

from longmatch.errors import ReadError
from longmatch.lab.training.bi_encoder_recipe import cached_backward
from longmatch.lab.training.recipe import Recipe, step_rng
from longmatch.lab.training.settings import TrainingSettings

NAME = "tests.lab.training.tiny_recipe:TinyRecipe"


@dataclass(frozen=True)
class TinySettings:
    width: int = 8
    aim: float = 1.0  # validation wants this share of the sum: below 1 the model gets better first, then worse
    new_layer: bool = False  # `odd` counts as a new layer
    cached: bool = False  # go back in two pieces, by gradient caching
    pause: float = 0.0  # seconds a batch takes
    spoil: str | None = None  # a file that holds a batch's number: while it is there, that batch's loss is no number


@dataclass(frozen=True)
class TinyBatch:
    number: int
    inputs: Tensor  # (rows, 4)
    sums: Tensor  # (rows,)

    @property
    def tokens(self) -> int:
        return len(self.sums)

    def to(self, device: torch.device) -> "TinyBatch":
        return TinyBatch(self.number, self.inputs.to(device), self.sums.to(device))


class TinyConfig(PretrainedConfig):
    model_type = "longmatch-tiny"

    def __init__(self, width: int = 8, **others: Any) -> None:
        self.width = width
        super().__init__(**others)


class TinyModel(PreTrainedModel):
    config_class = TinyConfig

    def __init__(self, config: TinyConfig) -> None:
        super().__init__(config)
        self.layers = nn.Sequential(
            nn.Linear(4, config.width), nn.Tanh(), nn.Dropout(0.2), nn.Linear(config.width, 1, bias=False)
        )
        self.odd = nn.Linear(4, 1)  # learns from batches of odd number alone
        self.post_init()

    def forward(self, inputs: Tensor, odd: bool = False) -> Tensor:
        found: Tensor = self.layers(inputs) + (self.odd(inputs) if odd else 0.0)
        return found


class TinyRecipe(Recipe[TinyBatch]):
    name: ClassVar[str] = "tiny"
    Settings: ClassVar[type] = TinySettings
    defaults: ClassVar[Mapping[str, Any]] = {"learning_rate": 0.01, "steps": 20, "validate_every": 5}
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {"paper": {"width": 4, "learning_rate": 0.02}}

    def __init__(self, weights: Tensor, settings: TrainingSettings, options: TinySettings) -> None:
        self.weights, self.settings, self.options = weights, settings, options
        self.model = TinyModel(TinyConfig(options.width))

    @classmethod
    def make(cls, data: Sequence[Path], cache: Path, settings: TrainingSettings, options: Any) -> "TinyRecipe":
        try:
            weights = json.loads(data[0].read_text())
        except OSError as error:
            raise ReadError(data[0], "is not there", "Name another file.") from error
        return cls(torch.tensor(weights), settings, options)

    @property
    def steps_per_epoch(self) -> int:
        return 10

    def draw(self, step: int) -> TinyBatch:
        time.sleep(self.options.pause)
        drawn = step_rng(self.settings.seed, step).normal(size=(self.settings.documents, 4))
        inputs = torch.from_numpy(drawn).float()
        return TinyBatch(step, inputs, inputs @ self.weights)

    def backward(self, model: PreTrainedModel, batch: TinyBatch) -> dict[str, Tensor]:
        odd = batch.number % 2 == 1

        def error(found: Tensor) -> Tensor:
            return nn.functional.mse_loss(found[:, 0].float(), batch.sums)

        if self.options.cached:
            loss = cached_backward(lambda part: model(part, odd), batch.inputs.chunk(2), error)
        else:
            loss = error(model(batch.inputs, odd))
            if self._is_spoilt(batch.number):
                loss = loss * float("nan")
            loss.backward()
        return {"loss": loss, "root": loss.detach().sqrt()}

    def _is_spoilt(self, number: int) -> bool:
        spoiling = Path(self.options.spoil) if self.options.spoil else None
        return bool(spoiling and spoiling.exists() and int(spoiling.read_text()) == number)

    def validate(self, model: PreTrainedModel) -> dict[str, float]:
        inputs = torch.from_numpy(step_rng(99, 0).normal(size=(64, 4))).float().to(model.device)
        wanted = self.options.aim * (inputs @ self.weights.to(model.device))
        error = float(nn.functional.mse_loss(model(inputs)[:, 0].float(), wanted))
        return {"closeness": -error, "error": error, "threshold": error / 2}

    def is_new(self, parameter: str) -> bool:
        return self.options.new_layer and parameter.startswith("odd.")

    def save(self, folder: Path) -> None:
        self.model.save_pretrained(folder)

    @property
    def facts(self) -> Mapping[str, Any]:
        return {"numbers": len(self.weights), **asdict(self.options)}
