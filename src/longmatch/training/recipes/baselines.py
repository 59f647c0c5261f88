"""How the siamese baselines learn, all of them alike: labelled pairs, and the chance that a cosine stands for."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Literal, Self

import numpy as np
import torch
from torch import Tensor
from transformers import PreTrainedModel

from longmatch.encoders.pretrained import DEFAULT_NAME, locate
from longmatch.encoders.tokenizer import open_tokenizer
from longmatch.errors import LongmatchError
from longmatch.losses import pair_cross_entropy_loss
from longmatch.models.baselines.arc import ArcModel
from longmatch.models.baselines.batch import Texts
from longmatch.models.baselines.dssm import DssmModel
from longmatch.models.baselines.han import HanModel
from longmatch.models.baselines.long import LongModel
from longmatch.models.baselines.model import VectorModel
from longmatch.models.baselines.smash import SmashModel
from longmatch.training.caching import cached_backward
from longmatch.training.data import TrainingData
from longmatch.training.limits import at_least
from longmatch.training.pairs import cosine_measures
from longmatch.training.recipe import Recipe
from longmatch.training.samplers import Epochs, Ints
from longmatch.training.settings import TrainingSettings

LEAST = {"sentence_tokens": 4, "buckets": 1, "hidden": 2, "vector_width": 1, "word_width": 1, "channels": 1}
LEAST |= {"opening": 3, "window": 1, "validation_pairs": 2}


@dataclass(frozen=True)
class BaselineSettings:
    """What all baselines know beside the settings of all models; the rest is each model's own (see its config)."""

    backbone: str | None = (
        None  # whose tokenizer, and whose weights as far as they serve; by default the packaged MiniLM
    )
    scale: float = 10.0  # a pair's chance is sigmoid(scale * (cosine - middle)); where the learned scale begins
    middle: float = 0.5  # and the learned middle
    sentence_tokens: int = 128  # a longer sentence goes on as another one
    validation_pairs: int | None = None  # looked at, drawn once; by default all

    def __post_init__(self) -> None:
        at_least(self, **LEAST)

    def model(self) -> dict[str, Any]:
        """The settings that are the model's own."""
        return {name: value for name, value in vars(self).items() if name not in ("backbone", "validation_pairs")}


@dataclass(frozen=True)
class DssmSettings(BaselineSettings):
    """Letter trigrams through three dense layers."""

    buckets: int = 30_000  # numbers for trigrams
    hidden: int = 300  # width of the first two layers
    vector_width: int = 128


@dataclass(frozen=True)
class WordSettings(BaselineSettings):
    """For models that begin with token embeddings."""

    words: Literal["backbone", "new"] = "backbone"  # what they begin with: the backbone's own, or random ones
    word_width: int = 384  # of random ones
    dropout: float = 0.1  # of the embeddings

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 <= self.dropout < 1:
            raise LongmatchError(f"The setting dropout is {self.dropout}; it must be 0 or more and below 1.")


@dataclass(frozen=True)
class ArcSettings(WordSettings):
    """Three convolutions."""

    channels: int = 256
    vector_width: int = 256


@dataclass(frozen=True)
class HanSettings(WordSettings):
    """Recurrent levels with attention."""

    hidden: int = 256  # width of a level's states, both directions together

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.hidden % 2:
            raise LongmatchError(f"The setting hidden is {self.hidden}; it must be even.")


@dataclass(frozen=True)
class LongSettings(BaselineSettings):
    """A backbone with sliding-window attention. How much dropout it has, its own config says."""

    opening: int = 4_096  # tokens read of a document, start and end tokens included
    window: int = 256  # tokens that a token sees to either side

    def model(self) -> dict[str, Any]:
        """The limit without the start and end tokens."""
        found = super().model()
        return {**found, "max_tokens": found.pop("opening") - 2}


@dataclass(frozen=True)
class PairBatch:
    """The documents of some pairs, each once, and the pairs."""

    texts: Texts
    together: Tensor  # (3, pairs): two documents of the batch, and the label

    @property
    def tokens(self) -> int:
        """How many tokens the model reads."""
        return self.texts.tokens

    def to(self, device: torch.device) -> "PairBatch":
        """The same on another device."""
        return PairBatch(self.texts.to(device), self.together.to(device))


class BaselineRecipe(Recipe[PairBatch]):
    """Binary cross-entropy of the chance and the label, as in SMITH's fine-tuning; both its numbers are learned too."""

    Model: ClassVar[type[VectorModel]]
    defaults: ClassVar[Mapping[str, Any]] = {"documents": 64, "epochs": 10, "patience": 3, "learning_rate": 1e-3}
    model: VectorModel

    def __init__(
        self, data: TrainingData, model: VectorModel, tokenizer: Any, settings: TrainingSettings, own: BaselineSettings
    ) -> None:
        self.data, self.model, self.tokenizer, self.settings, self.own = data, model, tokenizer, settings, own
        limits = [limit for limit in (settings.max_tokens, model.layout.max_tokens) if limit is not None]
        self.layout = replace(model.layout, max_tokens=min(limits, default=None))
        self.pairs, self.held_out = data.pairs("train"), data.pairs("validation")
        self._epochs = Epochs(len(self.pairs), max(1, settings.documents // 2), settings.seed)

    @classmethod
    def make(cls, data: Sequence[Path], cache: Path, settings: TrainingSettings, own: BaselineSettings) -> Self:
        """A new model for a backbone's tokenizer."""
        try:
            tokenizer = open_tokenizer(locate(own.backbone))
            model = cls.Model.new(own.backbone, tokenizer, **own.model())
        except (OSError, ValueError) as error:
            reason = str(error).strip().splitlines()[0].rstrip(".")
            raise LongmatchError(f"The backbone {own.backbone} cannot be opened ({reason}).") from error
        found = TrainingData.open(data, tokenizer.backend_tokenizer, cache, seed=settings.seed)
        return cls(found, model, tokenizer, settings, own)

    @property
    def steps_per_epoch(self) -> int:
        """Until every pair was drawn once."""
        return self._epochs.steps_per_epoch

    def draw(self, step: int) -> PairBatch:
        """The documents of some pairs, each document once."""
        rows = self._epochs.rows(step)
        both = np.stack([self.pairs.source[rows], self.pairs.target[rows]])
        numbers, places = np.unique(both, return_inverse=True)
        named = np.concatenate([places.reshape(2, -1), self.pairs.label[rows][None]])
        return PairBatch(self._lay_out(numbers), torch.from_numpy(named))

    def backward(self, model: PreTrainedModel, batch: PairBatch) -> dict[str, Tensor]:
        """One pass where the device holds the whole batch; else, by gradient caching, as many as it takes."""
        pieces = list(batch.texts.groups(self._budget))
        return {"loss": cached_backward(self._vectors, pieces, lambda vectors: self._loss(vectors, batch))}

    def validate(self, model: PreTrainedModel) -> dict[str, float]:
        """Cosines of the validation pairs: average precision decides."""
        return cosine_measures(self.held_out, self._document_vectors, self.own.validation_pairs)

    def save(self, folder: Path) -> None:
        """Config, weights and tokenizer."""
        self.model.save_pretrained(folder)
        self.tokenizer.save_pretrained(folder)

    @property
    def facts(self) -> Mapping[str, Any]:
        """For the model card."""
        return {"backbone": self.own.backbone or DEFAULT_NAME, **self.data.facts}

    @property
    def _budget(self) -> int:
        return self.settings.token_budget(self.model.device.type == "cuda")

    def _lay_out(self, numbers: Ints) -> Texts:
        return self.layout.lay_out([self.data.shelf[number] for number in numbers.tolist()])

    def _vectors(self, texts: Texts) -> Tensor:
        vectors: Tensor = self.model(texts).vectors
        return vectors

    def _loss(self, vectors: Tensor, batch: PairBatch) -> Tensor:
        with torch.autocast(vectors.device.type, enabled=False):
            source, target, label = batch.together
            learned = self.model.scale, self.model.middle
            return pair_cross_entropy_loss(vectors[source], vectors[target], label, *learned)

    @torch.no_grad()
    def _document_vectors(self, numbers: Ints) -> Tensor:
        """The vectors of documents, as many at a time as the device holds: (documents, width), on the CPU."""
        lengths = np.minimum(self.data.shelf.lengths[numbers], self.layout.max_tokens or np.inf)
        blocks = np.split(numbers, np.flatnonzero(np.diff(lengths.cumsum() // (8 * self._budget))) + 1)
        place = self.model.device
        found = [
            self._vectors(group).float().cpu()
            for block in blocks
            for group in self._lay_out(block).to(place).groups(self._budget)
        ]
        return torch.cat(found)


class DssmRecipe(BaselineRecipe):
    """DSSM."""

    name = "dssm"
    Settings: ClassVar[type] = DssmSettings
    Model = DssmModel


class ArcRecipe(BaselineRecipe):
    """ARC-I."""

    name = "arc-i"
    Settings: ClassVar[type] = ArcSettings
    Model = ArcModel


class HanRecipe(BaselineRecipe):
    """HAN."""

    name = "han"
    Settings: ClassVar[type] = HanSettings
    Model = HanModel


class SmashRecipe(BaselineRecipe):
    """SMASH RNN."""

    name = "smash"
    Settings: ClassVar[type] = HanSettings
    Model = SmashModel


class LongRecipe(BaselineRecipe):
    """S-LONG: as large a network as a backbone, so with a backbone's settings."""

    name = "s-long"
    Settings: ClassVar[type] = LongSettings
    defaults: ClassVar[Mapping[str, Any]] = {"documents": 64}
    Model = LongModel
