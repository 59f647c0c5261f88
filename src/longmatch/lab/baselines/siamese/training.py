"""How the siamese baselines learn, all of them alike: labelled pairs, and the chance that a cosine stands for."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

from torch import Tensor

from longmatch.encoders.pretrained import checkpoint_errors, locate
from longmatch.encoders.tokenizer import open_tokenizer
from longmatch.errors import LongmatchError
from longmatch.lab.baselines.siamese.arc import ArcModel
from longmatch.lab.baselines.siamese.batch import Layout, Texts
from longmatch.lab.baselines.siamese.dssm import DssmModel
from longmatch.lab.baselines.siamese.encoder import VectorModel
from longmatch.lab.baselines.siamese.han import HanModel
from longmatch.lab.baselines.siamese.long import LongModel
from longmatch.lab.baselines.siamese.smash import SmashModel
from longmatch.lab.losses import pair_cross_entropy_loss
from longmatch.lab.training.bi_encoder_recipe import BiEncoderRecipe, PairBatch
from longmatch.lab.training.limits import at_least
from longmatch.lab.training.settings import TrainingSettings


@dataclass(frozen=True)
class BaselineSettings:
    """What all baselines know beside the settings of all models; the rest is each model's own (see its config)."""

    backbone: str | None = None  # whose tokenizer, and whose weights as far as they serve; the packaged MiniLM
    scale: float = 10.0  # a pair's chance is sigmoid(scale * (cosine - middle)); where the learned scale begins
    middle: float = 0.5  # and the learned middle
    sentence_tokens: int = 128  # a longer sentence goes on as another one
    validation_pairs: int | None = None  # looked at, drawn once; by default all
    contrastive: ClassVar[bool] = False

    def __post_init__(self) -> None:
        at_least(self, sentence_tokens=4, buckets=1, hidden=2, vector_width=1, word_width=1, channels=1)
        at_least(self, opening=3, window=1, validation_pairs=2)

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


class BaselineRecipe(BiEncoderRecipe[Texts]):
    """Binary cross-entropy of the chance and the label, as in SMITH's fine-tuning; both its numbers are learned too."""

    Model: ClassVar[type[VectorModel]]
    defaults: ClassVar[Mapping[str, Any]] = {"documents": 64, "epochs": 10, "patience": 3, "learning_rate": 1e-3}
    model: VectorModel

    @classmethod
    def new_model(cls, settings: TrainingSettings, options: BaselineSettings) -> tuple[VectorModel, Any]:
        """A new model for a backbone's tokenizer."""
        with checkpoint_errors(f"The backbone {options.backbone}"):
            tokenizer = open_tokenizer(locate(options.backbone))
            return cls.Model.new(options.backbone, tokenizer, **options.model()), tokenizer

    def _layout(self) -> Layout:
        """The nearer limit of training and model holds."""
        found = self.model.layout
        limits = [limit for limit in (self.settings.max_tokens, found.max_tokens) if limit is not None]
        return replace(found, max_tokens=min(limits, default=None))

    def _vectors(self, documents: Texts) -> Tensor:
        vectors: Tensor = self.model(documents).vectors
        return vectors

    def _loss(self, vectors: Tensor, batch: PairBatch[Texts]) -> Tensor:
        source, target, label = batch.targets
        return pair_cross_entropy_loss(vectors[source], vectors[target], label, self.model.scale, self.model.middle)


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
