"""SMITH's fine-tuning (section 4.3): the chance that two documents belong together, from their cosine."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from torch import Tensor, nn
from transformers import PreTrainedModel

from longmatch.encoders.pretrained import DEFAULT_NAME
from longmatch.encoders.tokenizer import special_tokens
from longmatch.errors import LongmatchError
from longmatch.lab.papers.smith.batch import BlockBatch, Layout
from longmatch.lab.papers.smith.encoder import SmithModel
from longmatch.lab.papers.smith.opening import open_smith
from longmatch.lab.papers.smith.reading import layout, read
from longmatch.lab.papers.smith.shape import OF_THE_ENCODER, SmithShape, fewer
from longmatch.lab.training.bi_encoder_recipe import BiEncoderRecipe, PairBatch
from longmatch.lab.training.limits import above_zero, at_least
from longmatch.lab.training.recipe import token_budget
from longmatch.lab.training.settings import TrainingSettings


@dataclass(frozen=True)
class SmithSettings(SmithShape):
    """How SMITH is fine-tuned, beside what the model is made of.

    Without `pretrained` all weights begin new (SMITH-NP), or with a `backbone` those above it (SMITH-Short). With it
    the encoder's settings are the folder's; only max_blocks, cut_long and combine may be others.
    """

    pretrained: str | None = None  # a folder that smith-pretrain, or this, made
    scale: float = 10.0  # where the learned scale and bias of the cosine begin
    bias: float = -5.0
    validation_pairs: int | None = None  # looked at, drawn once; by default all
    contrastive: ClassVar[bool] = False

    def __post_init__(self) -> None:
        super().__post_init__()
        above_zero(self, "scale")
        at_least(self, validation_pairs=2)
        for key in OF_THE_ENCODER:
            if self.pretrained is not None and getattr(self, key) is not None:
                raise LongmatchError(f"The setting {key} is the pre-trained model's own; leave it out.")

    def model(self, max_tokens: int | None) -> tuple[SmithModel, Any]:
        """The model that training begins with, and its tokenizer."""
        if self.pretrained is None:
            model, tokenizer = self.new(max_tokens)
        else:
            model, tokenizer = open_smith(self.pretrained)
            blocks = self.max_blocks or int(model.config.max_blocks)
            blocks = fewer(blocks, max_tokens, int(model.config.block_tokens))
            model = model.changed(**self.given | {"max_blocks": blocks, "threshold": None})
        model.config.scale, model.config.bias = self.scale, self.bias
        nn.init.constant_(model.scale, self.scale)
        nn.init.constant_(model.bias, self.bias)
        return model, tokenizer


class SmithRecipe(BiEncoderRecipe[BlockBatch]):
    """A batch is labelled pairs (32 in the paper); each document is read once, with nothing hidden."""

    name: ClassVar[str] = "smith"
    Settings: ClassVar[type] = SmithSettings
    defaults: ClassVar[Mapping[str, Any]] = {"documents": 64, "epochs": 10, "patience": 5}
    model: SmithModel
    options: SmithSettings

    @classmethod
    def new_model(cls, settings: TrainingSettings, options: SmithSettings) -> tuple[SmithModel, Any]:
        """A new model, or a pre-trained one."""
        return options.model(settings.max_tokens)

    def validate(self, model: PreTrainedModel) -> dict[str, float]:
        """And what was learned of the chance."""
        return super().validate(model) | {"scale": self.model.scale.item(), "bias": self.model.bias.item()}

    @property
    def facts(self) -> Mapping[str, Any]:
        """For the model card."""
        began = {"backbone": self.options.backbone, "pretrained": self.options.pretrained}
        known = {key: value for key, value in began.items() if value is not None}
        words = {} if known else {"vocabulary": self.options.tokenizer or DEFAULT_NAME}
        return {**known, **words, **self.data.facts}

    def _layout(self) -> Layout:
        return layout(self.model, special_tokens(self.tokenizer, self.name))

    @property
    def _budget(self) -> int:
        return token_budget(self.settings, self.model.sentence_level, self.model.device)

    def _vectors(self, documents: BlockBatch) -> Tensor:
        found: Tensor = read(self.model, documents).documents
        return found

    def _loss(self, vectors: Tensor, batch: PairBatch[BlockBatch]) -> Tensor:
        """Binary cross-entropy of sigmoid(scale * cos + bias) with the labels."""
        source, target, label = batch.targets
        cosines = (vectors[source] * vectors[target]).sum(1)
        return nn.functional.binary_cross_entropy_with_logits(self.model.logits(cosines), label.float())
