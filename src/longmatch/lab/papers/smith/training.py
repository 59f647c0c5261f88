"""SMITH's fine-tuning (section 4.3): the matching probability of two documents, from their cosine.

The settings of the model (sections 5.2.1 and 5.2.3) are those of pre-training too.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Literal

import torch
from torch import Tensor, nn
from transformers import PreTrainedModel

from longmatch.encoders.pretrained import DEFAULT_NAME, checkpoint_errors, locate
from longmatch.errors import LongmatchError
from longmatch.lab.encoders.checkpoint import open_tokenizer, special_tokens
from longmatch.lab.encoders.flat import DocumentPieces
from longmatch.lab.matchers import open_trained
from longmatch.lab.papers.smith.encoder import (
    SIZES,
    BlockLayout,
    BlockPooling,
    Combine,
    DocumentPooling,
    SmithConfig,
    SmithModel,
    bert_config,
)
from longmatch.lab.training.bi_encoder_recipe import BiEncoderRecipe, PairBatch
from longmatch.lab.training.recipe import token_budget
from longmatch.lab.training.settings import TrainingSettings, above_zero, at_least, below_one

CHANGEABLE = ("max_blocks", "cut_long", "combine", "block_pooling", "document_pooling", "normalise_parts")


@dataclass(frozen=True)
class SmithModelSettings:
    """The settings of the model itself (see SmithConfig). None stands for its default, size base.

    With a `backbone` the sentence level is a BERT-like checkpoint over 4 blocks of 128 tokens (SMITH-Short).
    """

    size: Literal["base", "small", "tiny"] | None = None  # base: 6 and 3 layers, 256 wide, 4 heads
    layers: int | None = None  # of the sentence level
    document_layers: int | None = None
    width: int | None = None
    heads: int | None = None
    block_tokens: int | None = None  # start and end tokens included; 32, with a backbone 128
    max_blocks: int | None = None  # per document; 64, with a backbone 4
    cut_long: bool | None = None  # true: truncate sentences longer than a block, as in the paper
    combine: Combine | None = None  # how the levels are combined; normal: the document level alone
    block_pooling: BlockPooling | None = None  # how a block's tokens are read; start: by its start token
    document_pooling: DocumentPooling | None = None  # how a document's blocks are read; first: by the first
    normalise_parts: bool | None = None  # true: both parts that `combine` concatenates have length 1
    dropout: float | None = None
    backbone: str | None = None  # a folder or hub id
    tokenizer: str | None = None  # a folder or hub id; by default the backbone's or the packaged MiniLM's

    def __post_init__(self) -> None:
        at_least(self, layers=1, document_layers=1, width=1, heads=1, block_tokens=4, max_blocks=1)
        below_one(self, "dropout")
        for key in ("layers", "width", "tokenizer"):
            if self.backbone is not None and getattr(self, key) is not None:
                raise LongmatchError(f"The setting {key} is fixed by the backbone; leave it out.")

    @property
    def overrides(self) -> dict[str, Any]:
        """The settings that may differ from a pre-trained model's, where they are set."""
        values = {key: getattr(self, key) for key in CHANGEABLE}
        return {key: value for key, value in values.items() if value is not None}

    def new_model(self, max_tokens: int | None) -> tuple[SmithModel, Any]:
        """A new model and its tokenizer. `max_tokens` limits the number of blocks."""
        layers, document_layers, width, heads = SIZES[self.size or "base"]
        block_tokens = self.block_tokens or (128 if self.backbone else 32)
        settings: dict[str, Any] = {
            "document_layers": self.document_layers or document_layers,
            "document_heads": self.heads or heads,
            "dropout": 0.1 if self.dropout is None else self.dropout,
            "block_tokens": block_tokens,
            "max_blocks": 4 if self.backbone else 64,
            **self.overrides,
        }
        settings["max_blocks"] = blocks_within(settings["max_blocks"], max_tokens, block_tokens)
        width, heads = self.width or width, self.heads or heads
        if not self.backbone and width % heads:
            raise LongmatchError(f"The setting heads is {heads}; it must divide the width, {width}.")
        name = self.backbone or self.tokenizer
        with checkpoint_errors(f"The model {name or DEFAULT_NAME}"):
            tokenizer = open_tokenizer(locate(name))
            if self.backbone:
                return SmithModel.from_backbone(self.backbone, **settings), tokenizer
        sizes = (self.layers or layers, width, heads, block_tokens, settings["dropout"])
        inner = bert_config(len(tokenizer), *sizes).to_dict()
        return SmithModel(SmithConfig(sentence_level=inner, **settings)), tokenizer


def blocks_within(max_blocks: int, max_tokens: int | None, block_tokens: int) -> int:
    """`max_blocks`, or the number of blocks that `max_tokens` has room for if that is smaller; at least 1.

    >>> blocks_within(64, None, 32), blocks_within(64, 1024, 32), blocks_within(4, 1024, 128), blocks_within(64, 5, 32)
    (64, 32, 4, 1)
    """
    return max_blocks if max_tokens is None else max(1, min(max_blocks, max_tokens // block_tokens))


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
        fixed = {field.name for field in fields(SmithModelSettings)} - set(CHANGEABLE)
        for key in sorted(fixed):
            if self.pretrained is not None and getattr(self, key) is not None:
                raise LongmatchError(f"The setting {key} is fixed by the pre-trained model; leave it out.")

    def model(self, max_tokens: int | None) -> tuple[SmithModel, Any]:
        """The model that training starts from, and its tokenizer."""
        if self.pretrained is None:
            model, tokenizer = self.new_model(max_tokens)
        else:
            model, tokenizer = open_trained(SmithModel, self.pretrained, "cpu", "smith")
            blocks = self.max_blocks or int(model.config.max_blocks)
            blocks = blocks_within(blocks, max_tokens, int(model.config.block_tokens))
            model = model.with_settings(**self.overrides | {"max_blocks": blocks, "threshold": None})
        model.config.scale, model.config.bias = self.scale, self.bias
        nn.init.constant_(model.scale, self.scale)
        nn.init.constant_(model.bias, self.bias)
        return model, tokenizer


class SmithRecipe(BiEncoderRecipe[DocumentPieces]):
    """A batch consists of labelled pairs (32 in the paper), without masks; each document is encoded once."""

    name: ClassVar[str] = "smith"
    Settings: ClassVar[type] = SmithSettings
    defaults: ClassVar[Mapping[str, Any]] = {"documents": 64, "epochs": 10, "patience": 5}
    model: SmithModel
    options: SmithSettings

    def prepare(self) -> None:
        """With `centred`, start the probability as 0.5 at the first batch's mean cosine.

        Where all cosines are alike at first (0.99 on average), a fixed bias leaves every probability at one end.
        """
        super().prepare()
        if not self.options.centred:
            return
        numbers, (source, target) = self.pairs.documents(self.batch_rows(0))
        if self.settings.device == "auto" and torch.cuda.is_available():
            nn.Module.to(self.model, "cuda")  # where it is about to be trained: a batch of long documents
        self.model.eval()  # no dropout
        vectors = self.document_vectors(numbers)
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

    def _vectors(self, documents: DocumentPieces) -> Tensor:
        return self.model.encode_batch(documents).documents

    def _loss(self, vectors: Tensor, batch: PairBatch[DocumentPieces]) -> Tensor:
        """Binary cross-entropy of sigmoid(scale * cos + bias) with the labels."""
        source, target, label = batch.targets
        cosines = (vectors[source] * vectors[target]).sum(1)
        return nn.functional.binary_cross_entropy_with_logits(self.model.logits(cosines), label.float())
