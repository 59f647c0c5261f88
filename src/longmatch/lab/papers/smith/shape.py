"""What both of SMITH's recipes can be told about the model itself, and how it is made."""

from dataclasses import dataclass
from typing import Any, Literal

from longmatch.encoders.pretrained import DEFAULT_NAME, checkpoint_errors, locate
from longmatch.encoders.tokenizer import open_tokenizer
from longmatch.errors import LongmatchError
from longmatch.lab.papers.smith.config import SIZES, Combine, SmithConfig, sentence_level
from longmatch.lab.papers.smith.encoder import SmithModel
from longmatch.lab.training.limits import at_least

OF_THE_ENCODER = (
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
class SmithShape:
    """What a SMITH model is made of (see SmithConfig). What is left open is the paper's: none means size base.

    With a `backbone` the sentence level is a BERT-like checkpoint, and blocks are 4 of 128 tokens (SMITH-Short).
    """

    size: Literal["base", "small", "tiny"] | None = None  # base: 6 and 3 layers, 256 wide, 4 heads
    layers: int | None = None  # of the sentence level
    document_layers: int | None = None
    width: int | None = None
    heads: int | None = None
    block_tokens: int | None = None  # start and end tokens included; 32, with a backbone 128
    max_blocks: int | None = None  # read of a document; 64, with a backbone 4
    cut_long: bool | None = None  # true: the tail of a sentence longer than a block is dropped, as in the paper
    combine: Combine | None = None  # the levels; normal: the document level alone
    dropout: float | None = None
    backbone: str | None = None  # a folder or hub id
    tokenizer: str | None = None  # a folder or hub id; the backbone's, or that of the packaged MiniLM

    def __post_init__(self) -> None:
        at_least(self, layers=1, document_layers=1, width=1, heads=1, block_tokens=4, max_blocks=1)
        if self.dropout is not None and not 0 <= self.dropout < 1:
            raise LongmatchError(f"The setting dropout is {self.dropout}; it must be 0 or more and less than 1.")
        for key in ("layers", "width", "tokenizer"):
            if self.backbone is not None and getattr(self, key) is not None:
                raise LongmatchError(f"The setting {key} is the backbone's own; leave it out.")

    @property
    def given(self) -> dict[str, Any]:
        """What is not left open, but for that which belongs to the encoder."""
        found = {key: getattr(self, key) for key in ("max_blocks", "cut_long", "combine")}
        return {key: value for key, value in found.items() if value is not None}

    def new(self, max_tokens: int | None) -> tuple[SmithModel, Any]:
        """A new model and its tokenizer. A limit on a document's tokens is one on its blocks."""
        layers, document_layers, width, heads = SIZES[self.size or "base"]
        block_tokens = self.block_tokens or (128 if self.backbone else 32)
        facts: dict[str, Any] = {
            "document_layers": self.document_layers or document_layers,
            "document_heads": self.heads or heads,
            "dropout": 0.1 if self.dropout is None else self.dropout,
            "block_tokens": block_tokens,
            "max_blocks": 4 if self.backbone else 64,
            **self.given,
        }
        facts["max_blocks"] = fewer(facts["max_blocks"], max_tokens, block_tokens)
        width, heads = self.width or width, self.heads or heads
        if not self.backbone and width % heads:
            raise LongmatchError(f"The setting heads is {heads}; it must divide the width, {width}.")
        place = self.backbone or self.tokenizer
        with checkpoint_errors(f"The model {place or DEFAULT_NAME}"):
            tokenizer = open_tokenizer(locate(place))
            if self.backbone:
                return SmithModel.from_backbone(self.backbone, **facts), tokenizer
        inner = sentence_level(len(tokenizer), self.layers or layers, width, heads, block_tokens, facts["dropout"])
        return SmithModel(SmithConfig(sentence_level=inner, **facts)), tokenizer


def fewer(max_blocks: int, max_tokens: int | None, block_tokens: int) -> int:
    """The most blocks, with a limit on a document's tokens too.

    >>> fewer(64, None, 32), fewer(64, 1024, 32), fewer(4, 1024, 128), fewer(64, 5, 32)
    (64, 32, 4, 1)
    """
    return max_blocks if max_tokens is None else max(1, min(max_blocks, max_tokens // block_tokens))
