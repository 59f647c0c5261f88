"""Training of the siamese baselines: cross-entropy over labelled pairs, by the probability of a cosine."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

from torch import Tensor

from longmatch.encoders.pretrained import checkpoint_errors, locate
from longmatch.errors import LongmatchError
from longmatch.lab.baselines.siamese.dssm import DssmModel
from longmatch.lab.baselines.siamese.encoder import SentenceLayout, TextBatch, VectorModel
from longmatch.lab.baselines.siamese.longformer import LongModel
from longmatch.lab.baselines.siamese.token_networks import ArcModel, HanModel, SmashModel
from longmatch.lab.encoders.checkpoint import open_tokenizer
from longmatch.lab.losses import pair_cross_entropy_loss
from longmatch.lab.training.bi_encoder_recipe import BiEncoderRecipe, PairBatch
from longmatch.lab.training.settings import TrainingSettings, at_least, below_one


@dataclass(frozen=True)
class SiameseSettings:
    """Settings of all siamese baselines; for the rest see each model's config."""

    backbone: str | None = None  # tokenizer, and weights where they apply; the packaged MiniLM by default
    scale: float = 10.0  # initial value: a pair's probability is sigmoid(scale * (cosine - middle))
    middle: float = 0.5  # initial value
    sentence_tokens: int = 128  # longer sentences are split
    opening: int | None = None  # tokens read of a document, in training and afterwards; all by default
    validation_pairs: int | None = None  # sampled once; all by default
    contrastive: ClassVar[bool] = False

    def __post_init__(self) -> None:
        at_least(self, sentence_tokens=4, buckets=1, hidden=2, vector_width=1, word_width=1, channels=1)
        at_least(self, opening=3, window=1, validation_pairs=2)

    def model(self) -> dict[str, Any]:
        """The settings that go into the model's config."""
        others = {name: value for name, value in vars(self).items() if name not in ("backbone", "validation_pairs")}
        return {"max_tokens": others.pop("opening"), **others}


@dataclass(frozen=True)
class DssmSettings(SiameseSettings):
    """Letter trigrams through three dense layers."""

    buckets: int = 30_000  # hash buckets for trigrams
    hidden: int = 300  # width of the first two layers
    vector_width: int = 128


@dataclass(frozen=True)
class WordSettings(SiameseSettings):
    """For models with token embeddings."""

    words: Literal["backbone", "new"] = "backbone"  # initial embeddings: the backbone's, or random ones
    word_width: int = 384  # of new embeddings
    dropout: float = 0.1  # of the embeddings

    def __post_init__(self) -> None:
        super().__post_init__()
        below_one(self, "dropout")


@dataclass(frozen=True)
class ArcSettings(WordSettings):
    """Three convolutions."""

    channels: int = 256
    vector_width: int = 256


@dataclass(frozen=True)
class HanSettings(WordSettings):
    """Recurrent levels with attention."""

    hidden: int = 256  # width of a level's states, both directions

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.hidden % 2:
            raise LongmatchError(f"The setting hidden is {self.hidden}; it must be even.")


@dataclass(frozen=True)
class LongSettings(SiameseSettings):
    """A backbone with sliding-window attention."""

    opening: int = 4_096  # start and end tokens included
    window: int = 256  # attention span per side
    dropout: float | None = None  # of the backbone; by default as its config says

    def __post_init__(self) -> None:
        super().__post_init__()
        below_one(self, "dropout")

    def model(self) -> dict[str, Any]:
        """The settings that go into the model's config; `max_tokens` does not count start and end tokens."""
        return {**super().model(), "max_tokens": self.opening - 2}


class SiameseRecipe(BiEncoderRecipe[TextBatch]):
    """Binary cross-entropy as in SMITH's fine-tuning; scale and middle of the probability are learned.

    All weights of these small networks, pretrained embeddings included, learn at one rate.
    """

    Model: ClassVar[type[VectorModel]]
    defaults: ClassVar[Mapping[str, Any]] = {"documents": 64, "epochs": 10, "patience": 3, "learning_rate": 1e-3}
    model: VectorModel

    @classmethod
    def new_model(cls, settings: TrainingSettings, options: SiameseSettings) -> tuple[VectorModel, Any]:
        """A new model for a backbone's tokenizer."""
        with checkpoint_errors(f"The backbone {options.backbone}"):
            tokenizer = open_tokenizer(locate(options.backbone))
            return cls.Model.new(options.backbone, tokenizer, **options.model()), tokenizer

    def _layout(self) -> SentenceLayout:
        """The model's layout, with the smaller of its and the training's token limit."""
        layout = self.model.layout
        limits = [limit for limit in (self.settings.max_tokens, layout.max_tokens) if limit is not None]
        return replace(layout, max_tokens=min(limits, default=None))

    def _vectors(self, documents: TextBatch) -> Tensor:
        vectors: Tensor = self.model(documents).vectors
        return vectors

    def _loss(self, vectors: Tensor, batch: PairBatch[TextBatch]) -> Tensor:
        source, target, label = batch.targets
        return pair_cross_entropy_loss(vectors[source], vectors[target], label, self.model.scale, self.model.middle)


class DssmRecipe(SiameseRecipe):
    """DSSM."""

    name = "dssm"
    Settings: ClassVar[type] = DssmSettings
    Model = DssmModel


class ArcRecipe(SiameseRecipe):
    """ARC-I."""

    name = "arc-i"
    Settings: ClassVar[type] = ArcSettings
    Model = ArcModel


class HanRecipe(SiameseRecipe):
    """HAN."""

    name = "han"
    Settings: ClassVar[type] = HanSettings
    Model = HanModel


class SmashRecipe(SiameseRecipe):
    """SMASH RNN."""

    name = "smash"
    Settings: ClassVar[type] = HanSettings
    Model = SmashModel


class LongRecipe(SiameseRecipe):
    """S-LONG: as large as a backbone, so trained with a backbone's settings."""

    name = "s-long"
    Settings: ClassVar[type] = LongSettings
    defaults: ClassVar[Mapping[str, Any]] = {"documents": 64, "epochs": 10, "patience": 3}
    Model = LongModel

    def is_new(self, parameter: str) -> bool:
        """Scale and middle of the probability."""
        return not parameter.startswith("backbone.")
