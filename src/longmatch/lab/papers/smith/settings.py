"""The model settings that SMITH's two recipes share (sections 5.2.1 and 5.2.3), and new models from them."""

from dataclasses import dataclass
from typing import Any, Literal

from longmatch.encoders.pretrained import DEFAULT_NAME, checkpoint_errors, locate
from longmatch.errors import LongmatchError
from longmatch.lab.encoders.checkpoint import open_tokenizer
from longmatch.lab.papers.smith.config import SIZES, BlockPooling, Combine, DocumentPooling, SmithConfig, sentence_level
from longmatch.lab.papers.smith.encoder import SmithModel
from longmatch.lab.training.limits import at_least, below_one

CHANGEABLE = ("max_blocks", "cut_long", "combine", "block_pooling", "document_pooling", "normalise_parts")
FIXED_BY_PRETRAINING = (
    "size",
    "layers",
    "document_layers",
    "width",
    "heads",
    "block_tokens",
    "dropout",
    "backbone",
    "tokenizer",
)


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
        inner = sentence_level(len(tokenizer), self.layers or layers, width, heads, block_tokens, settings["dropout"])
        return SmithModel(SmithConfig(sentence_level=inner, **settings)), tokenizer


def blocks_within(max_blocks: int, max_tokens: int | None, block_tokens: int) -> int:
    """`max_blocks`, or the number of blocks that `max_tokens` has room for if that is smaller; at least 1.

    >>> blocks_within(64, None, 32), blocks_within(64, 1024, 32), blocks_within(4, 1024, 128), blocks_within(64, 5, 32)
    (64, 32, 4, 1)
    """
    return max_blocks if max_tokens is None else max(1, min(max_blocks, max_tokens // block_tokens))
