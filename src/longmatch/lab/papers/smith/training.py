"""SMITH's fine-tuning (section 4.3): the matching probability of two documents, from their cosine."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor, nn
from transformers import PreTrainedModel

from longmatch.encoders.pretrained import DEFAULT_NAME
from longmatch.errors import LongmatchError
from longmatch.lab.encoders.checkpoint import special_tokens
from longmatch.lab.papers.smith.batch import BlockBatch, BlockLayout
from longmatch.lab.papers.smith.encoder import SmithModel, open_smith
from longmatch.lab.papers.smith.settings import FIXED_BY_PRETRAINING, SmithModelSettings, blocks_within
from longmatch.lab.training.bi_encoder_recipe import BiEncoderRecipe, PairBatch
from longmatch.lab.training.data import TrainingData
from longmatch.lab.training.limits import above_zero, at_least
from longmatch.lab.training.recipe import token_budget
from longmatch.lab.training.settings import TrainingSettings


@dataclass(frozen=True)
class SmithSettings(SmithModelSettings):
    """Settings of fine-tuning, in addition to those of the model.

    Without `pretrained` all weights start untrained (SMITH-NP), or with a `backbone` those above it (SMITH-Short). With
    it the encoder's settings are the folder's; only those of blocks, pooling and combining may differ.
    """

    pretrained: str | None = None  # a folder written by smith-pretrain or smith
    scale: float = 10.0  # initial values of the learned scale and bias
    bias: float = -5.0
    centred: bool = False  # true: the first batch's mean cosine, not `bias`, is where the probability starts as 0.5
    validation_pairs: int | None = None  # a fixed sample of them; all by default
    contrastive: ClassVar[bool] = False

    def __post_init__(self) -> None:
        super().__post_init__()
        above_zero(self, "scale")
        at_least(self, validation_pairs=2)
        for key in FIXED_BY_PRETRAINING:
            if self.pretrained is not None and getattr(self, key) is not None:
                raise LongmatchError(f"The setting {key} is fixed by the pre-trained model; leave it out.")

    def model(self, max_tokens: int | None) -> tuple[SmithModel, Any]:
        """The model that training starts from, and its tokenizer."""
        if self.pretrained is None:
            model, tokenizer = self.new_model(max_tokens)
        else:
            model, tokenizer = open_smith(self.pretrained)
            blocks = self.max_blocks or int(model.config.max_blocks)
            blocks = blocks_within(blocks, max_tokens, int(model.config.block_tokens))
            model = model.with_settings(**self.overrides | {"max_blocks": blocks, "threshold": None})
        model.config.scale, model.config.bias = self.scale, self.bias
        nn.init.constant_(model.scale, self.scale)
        nn.init.constant_(model.bias, self.bias)
        return model, tokenizer


class SmithRecipe(BiEncoderRecipe[BlockBatch]):
    """A batch consists of labelled pairs (32 in the paper), without masks; each document is encoded once."""

    name: ClassVar[str] = "smith"
    Settings: ClassVar[type] = SmithSettings
    defaults: ClassVar[Mapping[str, Any]] = {"documents": 64, "epochs": 10, "patience": 5}
    model: SmithModel
    options: SmithSettings

    def __init__(
        self, data: TrainingData, model: Any, tokenizer: Any, settings: TrainingSettings, options: Any
    ) -> None:
        super().__init__(data, model, tokenizer, settings, options)
        if options.centred:
            self._centre()

    def _centre(self) -> None:
        """Where all cosines are alike at first (0.99 on average), a fixed bias leaves every probability at one end."""
        numbers, (source, target) = self.pairs.documents(self._batch_rows(0))
        if self.settings.device == "auto" and torch.cuda.is_available():
            nn.Module.to(self.model, "cuda")  # where it is about to be trained: a batch of long documents
        self.model.eval()  # no dropout
        vectors = self._document_vectors(numbers)
        cosine = (vectors[source] * vectors[target]).sum(1).mean().item()
        self.model.config.bias = -self.options.scale * cosine
        nn.init.constant_(self.model.bias, self.model.config.bias)

    def is_new(self, parameter: str) -> bool:
        """Scale and bias, which would hardly move at the encoder's rate, and all that is put on top of a backbone."""
        on_backbone = self.options.backbone is not None and not parameter.startswith("sentence_level.")
        return on_backbone or parameter in ("scale", "bias")

    @classmethod
    def new_model(cls, settings: TrainingSettings, options: SmithSettings) -> tuple[SmithModel, Any]:
        """A new model, or a pre-trained one."""
        return options.model(settings.max_tokens)

    def validate(self, model: PreTrainedModel) -> dict[str, float]:
        """With the learned scale and bias."""
        return super().validate(model) | {"scale": self.model.scale.item(), "bias": self.model.bias.item()}

    @property
    def facts(self) -> Mapping[str, Any]:
        """For the model card."""
        start = {"backbone": self.options.backbone, "pretrained": self.options.pretrained}
        start = {key: value for key, value in start.items() if value is not None}
        words = {} if start else {"vocabulary": self.options.tokenizer or DEFAULT_NAME}
        return {**start, **words, **self.data.facts}

    def _layout(self) -> BlockLayout:
        return self.model.layout(special_tokens(self.tokenizer, self.name))

    @property
    def tokens_per_pass(self) -> int:
        """As many as fit on the device."""
        return token_budget(self.settings, self.model.sentence_level, self.model.device)

    def _vectors(self, documents: BlockBatch) -> Tensor:
        return self.model.encode_batch(documents).documents

    def _loss(self, vectors: Tensor, batch: PairBatch[BlockBatch]) -> Tensor:
        """Binary cross-entropy of sigmoid(scale * cos + bias) with the labels."""
        source, target, label = batch.targets
        cosines = (vectors[source] * vectors[target]).sum(1)
        return nn.functional.binary_cross_entropy_with_logits(self.model.logits(cosines), label.float())
