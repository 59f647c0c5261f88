"""SMITH's model settings; the defaults are the paper's (section 5.2.3) but for the number of blocks."""

from typing import Any, Literal

from transformers import AutoConfig, BertConfig, PretrainedConfig

Combine = Literal["normal", "sum-concat", "mean-concat", "attention"]
BlockPooling = Literal["start", "mean"]
DocumentPooling = Literal["first", "mean"]

SIZES = {  # layers of the sentence level and the document level, width, heads
    "base": (6, 3, 256, 4),
    "small": (4, 2, 128, 4),
    "tiny": (2, 1, 64, 2),
}


class SmithConfig(PretrainedConfig):  # type: ignore[misc]
    """The parts and sizes of a SMITH model.

    The paper (sections 4.1 and 5.2.3): blocks of 32 tokens, at most 64 of them (it tunes 32, 48 and 64, and reports
    48); 6 layers at the sentence level, 3 at the document level, 256 wide, 4 heads, dropout 0.1. Both levels are BERT's
    transformer; `sentence_level` holds the config of the first, which for SMITH-Short is a pretrained checkpoint's.

    Where the paper is silent we chose: the 32 tokens of a block include the start and end token; feed-forward layers
    are 4 times as wide; initial weights are scaled to the width as BERT's are to 768; the block vectors combined with
    the document level's output are those before positions are added, and a dense layer reduces both to one width; the
    dense layers have no activation, so a cosine can be negative.

    Three settings are not the paper's: `block_pooling=mean` reads a block by the mean of its tokens' states instead of
    its start token, `document_pooling=mean` a document by the mean of its blocks instead of the first, and
    `normalise_parts` gives both parts of a combination length 1 before they are concatenated.

    `cut_long` truncates a sentence longer than a block, as the paper does; otherwise it continues in the next block.
    `scale` and `bias` are the initial values of the learned ones in sigmoid(scale * cos + bias).
    """

    model_type = "longmatch-smith"

    def __init__(
        self,
        sentence_level: dict[str, Any] | None = None,
        document_layers: int = 3,
        document_heads: int = 4,
        dropout: float = 0.1,
        block_tokens: int = 32,
        max_blocks: int = 64,
        cut_long: bool = False,
        combine: Combine = "normal",
        scale: float = 10.0,
        bias: float = -5.0,
        threshold: float | None = None,
        block_pooling: BlockPooling = "start",
        document_pooling: DocumentPooling = "first",
        normalise_parts: bool = False,
        **others: Any,
    ) -> None:
        self.sentence_level = sentence_level
        self.document_layers, self.document_heads, self.dropout = document_layers, document_heads, dropout
        self.block_tokens, self.max_blocks, self.cut_long = block_tokens, max_blocks, cut_long
        self.combine, self.scale, self.bias = combine, scale, bias
        self.block_pooling, self.document_pooling = block_pooling, document_pooling
        self.normalise_parts = normalise_parts
        self.threshold = threshold  # pairs with at least this score match; chosen on validation pairs
        super().__init__(**others)

    def sentence_config(self) -> PretrainedConfig:
        """The sentence level's configuration."""
        settings = dict(self.sentence_level or {})
        return AutoConfig.for_model(settings.pop("model_type", "bert"), **settings)

    def document_config(self) -> BertConfig:
        """The document level's configuration: as wide as the sentence level, with blocks instead of words."""
        return _bert(
            1,
            self.sentence_config().hidden_size,
            self.document_layers,
            self.document_heads,
            self.max_blocks,
            self.dropout,
        )


def sentence_level(
    vocabulary: int, layers: int, width: int, heads: int, block_tokens: int, dropout: float = 0.1
) -> dict[str, Any]:
    """The configuration of a new sentence level, as `SmithConfig` takes it."""
    config: dict[str, Any] = _bert(vocabulary, width, layers, heads, block_tokens, dropout).to_dict()
    return config


def _bert(vocabulary: int, width: int, layers: int, heads: int, positions: int, dropout: float) -> BertConfig:
    return BertConfig(
        vocab_size=vocabulary,
        hidden_size=width,
        num_hidden_layers=layers,
        num_attention_heads=heads,
        intermediate_size=4 * width,
        max_position_embeddings=positions,
        type_vocab_size=1,
        initializer_range=0.02 * (768 / width) ** 0.5,
        hidden_dropout_prob=dropout,
        attention_probs_dropout_prob=dropout,
        pad_token_id=0,
    )
