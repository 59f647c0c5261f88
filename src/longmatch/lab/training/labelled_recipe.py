"""Base class of the recipes that learn from labelled pairs: data, batches, saving, card."""

from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Generic, Protocol, Self

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, from_numpy, nn
from torch.nn.functional import normalize

from longmatch.encoders.pretrained import DEFAULT_NAME
from longmatch.lab.encoders.checkpoint import save_checkpoint
from longmatch.lab.training.data.labels import PairTable
from longmatch.lab.training.data.training_data import TrainingData
from longmatch.lab.training.recipe import B, EpochSampler, Recipe
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
        self.prepare()

    def prepare(self) -> None:
        """What else a recipe does before the first step."""

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

    def batch_rows(self, step: int) -> Ints:
        """The rows of the training pairs in a step's batch."""
        rows: Ints = self._rows[self._epochs.rows(step)]
        return rows


def cosine_measures(
    pairs: PairTable, vectors_of: Callable[[Ints], Tensor], limit: int | None = None
) -> dict[str, float]:
    """The measures of the pairs' cosines, over at most `limit` pairs (the same ones whatever the seed).

    `vectors_of` maps distinct document numbers to one vector each: (documents, width).
    """
    rows = validation_rows(pairs, limit)
    numbers, places = pairs.documents(rows)
    source, target = normalize(vectors_of(numbers), dim=1)[from_numpy(places)]
    return pair_measures((source * target).sum(1).double().numpy(), pairs.label[rows])


def validation_rows(pairs: PairTable, limit: int | None = None) -> Ints:
    """The rows of at most `limit` pairs, the same ones whatever the seed."""
    return np.sort(np.random.default_rng(0).permutation(len(pairs))[: limit or len(pairs)])


def pair_measures(scores: npt.NDArray[np.float64], labels: Ints) -> dict[str, float]:
    """Average precision, the highest F1, and the accuracy and threshold at that F1.

    The threshold is halfway to the next lower score; the highest of several that are as good.

    >>> measures = pair_measures(np.array([0.9, 0.8, 0.3, 0.1]), np.array([1, 1, 0, 0]))
    >>> measures["average_precision"], measures["f1"], measures["threshold"]
    (1.0, 1.0, 0.55)
    """
    from sklearn.metrics import average_precision_score

    if not np.isfinite(scores).all():  # training has diverged; the Trainer stops with an error
        return {"average_precision": float("nan")}
    values, place = np.unique(-scores, return_inverse=True)  # from the highest score
    matches, predicted = (np.cumsum(np.bincount(place, weights)) for weights in (labels, None))
    f1 = 2 * matches / (predicted + labels.sum())
    best = int(f1.argmax())
    lowest, next_lower = -values[best], -values[min(best + 1, len(values) - 1)]
    middle = (lowest + next_lower) / 2
    threshold = middle if middle > next_lower else lowest
    return {
        "average_precision": float(average_precision_score(labels, scores)),
        "f1": float(f1[best]),
        "accuracy": float(((scores >= threshold) == labels).mean()),
        "threshold": float(threshold),
    }


def classification_backward(groups: Iterable[tuple[Tensor, Tensor]], label: Tensor) -> dict[str, Tensor]:
    """Add the gradient of a batch's mean cross-entropy, given as the logits and labels of its groups; return the loss.

    `label` are the labels of the whole batch: (pairs,).
    """
    total = torch.zeros((), device=label.device)
    for logits, part in groups:
        loss = nn.functional.cross_entropy(logits.float(), part, reduction="sum") / len(label)
        loss.backward()  # type: ignore[no-untyped-call]
        total += loss.detach()
    return {"loss": total}
