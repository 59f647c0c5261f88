"""SMITH's encoder (section 4.1): a transformer over the tokens of each block, then one over a document's blocks.

Blocks are greedily filled with sentences (4.1.1). The defaults of the configuration are the paper's (section 5.2.3) but
for the number of blocks.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
import torch
from torch import Tensor, nn
from transformers import AutoModel, BertConfig, BertModel, PretrainedConfig, PreTrainedModel
from transformers.utils.generic import ModelOutput

from longmatch.encoders.pretrained import locate
from longmatch.errors import LongmatchError
from longmatch.lab.encoders.checkpoint import nested_config, open_checkpoint
from longmatch.lab.encoders.engine import max_positions
from longmatch.lab.encoders.flat import DocumentPieces, FlatTokens, mean_pool
from longmatch.lab.encoders.packed.bert import forward_packed, pool_packed, uses_packing
from longmatch.lab.encoders.ragged import offsets_of, segment_mean, segment_softmax, segment_sum, to_device
from longmatch.units.pieces import block_ranges
from longmatch.units.tokens import Ints, Tokens

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
    sentence_level: dict[str, Any] | None = None
    document_layers: int = 3
    document_heads: int = 4
    dropout: float = 0.1
    block_tokens: int = 32
    max_blocks: int = 64
    cut_long: bool = False
    combine: Combine = "normal"
    scale: float = 10.0
    bias: float = -5.0
    threshold: float | None = None  # pairs with at least this score match; chosen on validation pairs
    block_pooling: BlockPooling = "start"
    document_pooling: DocumentPooling = "first"
    normalise_parts: bool = False


def bert_config(
    vocabulary: int, layers: int, width: int, heads: int, positions: int, dropout: float = 0.1
) -> BertConfig:
    """The configuration of a new level: feed-forward layers 4 times as wide, initial weights scaled to the width."""
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


@dataclass(frozen=True)
class BlockLayout:
    """How documents are cut for a model: tokens per block, number of blocks, special tokens around each block."""

    limit: int  # tokens per block without the special ones
    max_blocks: int | None
    specials: tuple[int, int]
    cut_long: bool = False

    def ranges(self, tokens: Tokens, random: np.random.Generator | None = None) -> tuple[Ints, Ints]:
        """First and last token of `max_blocks` blocks, the first ones or with `random` from a random position on.

        A document without tokens has one empty block.
        """
        most = self.max_blocks if random is None else None
        first, last = block_ranges(tokens, self.limit, cut_long=self.cut_long, max_blocks=most)
        if not len(first):
            first = last = np.zeros(1, np.int64)
        if random is None:
            return first, last
        start = int(random.integers(max(1, len(first) - (self.max_blocks or len(first)) + 1)))
        return first[start:][: self.max_blocks], last[start:][: self.max_blocks]

    def lay_out(self, documents: Sequence[Tokens], random: np.random.Generator | None = None) -> DocumentPieces:
        """The blocks of documents as one batch: from their beginnings, or with `random` from random positions."""
        return DocumentPieces.of(documents, [self.ranges(tokens, random) for tokens in documents], self.specials)


class CombinedLevels(nn.Module):
    """Section 4.1.4: the document vector, from the document level's output and, unless `combine` is normal, the sum,
    mean or attention-weighted sum of the block vectors; a dense layer and L2 normalisation follow.

    The output of the document level is sqrt(width) long, a mean of block vectors at most 1: with `normalised` both
    parts have length 1.
    """

    def __init__(self, combine: Combine, width: int, normalised: bool = False) -> None:
        super().__init__()
        if combine not in get_args(Combine):
            raise LongmatchError(
                f"The setting combine is {combine!r}; it must be one of {', '.join(get_args(Combine))}."
            )
        self.combine, self.normalised = combine, normalised
        self.dense = nn.Linear(width if combine == "normal" else 2 * width, width)
        if combine == "attention":
            self.projection = nn.Linear(width, width, bias=False)  # W
            self.question = nn.Linear(width, 1, bias=False)  # v

    def forward(self, blocks: Tensor, output: Tensor, offsets: Tensor) -> Tensor:
        """From block vectors (blocks, width) and the document level's output of each document: (documents, width)."""
        parts = [output]
        if self.combine == "attention":  # softmax(h_i W v) over the blocks of each document
            weights = segment_softmax(self.question(self.projection(blocks)), offsets)  # (blocks, 1)
            parts = [segment_sum(blocks * weights, offsets), output]
        elif self.combine != "normal":
            summarise = segment_sum if self.combine == "sum-concat" else segment_mean
            parts = [summarise(blocks, offsets), output]
        if self.normalised:
            parts = [nn.functional.normalize(part, dim=1) for part in parts]
        return nn.functional.normalize(self.dense(torch.cat(parts, dim=1)), dim=1)


@dataclass
class SmithOutput(ModelOutput):  # type: ignore[misc]
    """The document level's output. No field is ever None.

    - documents: (documents, width), unit vectors;
    - context: (blocks, width), contextual block vectors.
    """

    documents: Tensor = None  # type: ignore[assignment]
    context: Tensor = None  # type: ignore[assignment]


class SmithModel(PreTrainedModel):  # type: ignore[misc]
    """Section 4.1.2: encodes the blocks of a batch, laid out flat, the blocks of a document one after another.

    The sentence level reads each block by itself, so its memory is linear in the number of blocks; only the document
    level is quadratic, and it sees one vector per block (section 4.1.3).
    """

    config_class = SmithConfig
    base_model_prefix = "smith"

    def __init__(self, config: SmithConfig) -> None:
        super().__init__(config)
        inner = nested_config(config.sentence_level)
        width = inner.hidden_size
        if width % config.document_heads:
            raise LongmatchError(
                f"The document level has {config.document_heads} heads; they must divide the width, {width}."
            )
        self.sentence_level = AutoModel.from_config(inner, trust_remote_code=False)
        if getattr(self.sentence_level, "pooler", None) is not None:
            self.sentence_level.pooler = None  # replaced by the dense layer below
        self.block = nn.Linear(width, width)
        sizes = (1, config.document_layers, width, config.document_heads, config.max_blocks)  # blocks instead of words
        self.document_level = BertModel(bert_config(*sizes, config.dropout), add_pooling_layer=False)
        self.combined = CombinedLevels(config.combine, width, config.normalise_parts)
        self.scale = nn.Parameter(torch.tensor(float(config.scale)))
        self.bias = nn.Parameter(torch.tensor(float(config.bias)))
        self.post_init()

    @classmethod
    def from_backbone(cls, name: str | None = None, **settings: Any) -> "SmithModel":
        """SMITH-Short: a pretrained checkpoint (folder or hub id) as the sentence level."""
        backbone = open_checkpoint(AutoModel, locate(name))
        model = cls(SmithConfig(sentence_level=backbone.config.to_dict(), **settings))
        model.sentence_level.load_state_dict(backbone.state_dict(), strict=False)  # all but its pooler
        return model

    def with_settings(self, **settings: Any) -> "SmithModel":
        """A model with other settings, initialised with all weights of this one that fit.

        Fewer blocks keep the first position embeddings; additional ones, and another way to combine, start untrained.
        """
        model = type(self)(SmithConfig(**self.config.to_dict() | settings))
        state = model.state_dict()
        for name, weight in self.state_dict().items():
            if name not in state:
                continue
            if name.endswith("position_embeddings.weight"):
                rows = min(len(weight), len(state[name]))
                state[name][:rows] = weight[:rows]
            elif state[name].shape == weight.shape:
                state[name] = weight
        model.load_state_dict(state)
        return model

    @property
    def width(self) -> int:
        """Dimensions of block and document vectors."""
        return int(self.block.out_features)

    def layout(self, specials: tuple[int, int]) -> BlockLayout:
        """How documents are cut for this model."""
        wanted = int(self.config.block_tokens)
        limit = min(wanted, max_positions(self.sentence_level) or wanted) - 2  # a backbone may have fewer positions
        return BlockLayout(limit, int(self.config.max_blocks), specials, bool(self.config.cut_long))

    def forward(self, ids: Tensor, mask: Tensor, position: Tensor, counts: Tensor, **unused: Any) -> SmithOutput:
        """Encode padded blocks (blocks, tokens), given their positions (blocks,) and the number of blocks of each
        document (documents,).
        """
        return self.aggregate(self.block_vectors(self.encode_tokens(ids, mask), mask), position, counts)

    def encode_batch(self, batch: DocumentPieces) -> SmithOutput:
        """The vectors of a batch's documents."""
        return self.aggregate(self.encode_batch_blocks(batch), batch.position, batch.counts)

    def encode_batch_blocks(self, batch: DocumentPieces) -> Tensor:
        """One unit vector per block, in the batch's order (blocks, width): without padding, or padded by length."""
        if uses_packing(self.sentence_level):
            return self.packed_block_vectors(forward_packed(self.sentence_level, batch.text), batch.text)
        return batch.text.encode_each(
            lambda ids, mask, _: self.block_vectors(self.encode_tokens(ids, mask.long()), mask)
        )

    def encode_tokens(self, ids: Tensor, mask: Tensor) -> Tensor:
        """The sentence level: token vectors of blocks, (blocks, tokens, width)."""
        return torch.as_tensor(self.sentence_level(input_ids=ids, attention_mask=mask).last_hidden_state)

    def block_vectors(self, hidden: Tensor, mask: Tensor) -> Tensor:
        """One unit vector per block, from its start token or the mean of its tokens: (blocks, width)."""
        return self._projected(mean_pool(hidden, mask) if self.config.block_pooling == "mean" else hidden[:, 0])

    def packed_block_vectors(self, states: Tensor, text: FlatTokens) -> Tensor:
        """The same from token vectors without padding: (tokens, width) -> (blocks, width)."""
        return self._projected(pool_packed(states, text, "mean" if self.config.block_pooling == "mean" else "cls"))

    def _projected(self, pooled: Tensor) -> Tensor:
        """A dense layer, then length 1; in full precision."""
        with torch.autocast(pooled.device.type, enabled=False):
            return nn.functional.normalize(self.block(pooled.to(self.block.weight.dtype)), dim=1)

    def aggregate(self, blocks: Tensor, position: Tensor, counts: Tensor) -> SmithOutput:
        """Document vectors from block vectors (blocks, width); the levels are combined in full precision."""
        context, offsets = self.contextualise(blocks, position, counts), to_device(offsets_of(counts), blocks.device)
        with torch.autocast(blocks.device.type, enabled=False):
            mean = self.config.document_pooling == "mean"
            output = segment_mean(context, offsets) if mean else context.index_select(0, offsets[:-1])
            return SmithOutput(documents=self.combined(blocks, output, offsets), context=context)

    def contextualise(self, blocks: Tensor, position: Tensor, counts: Tensor) -> Tensor:
        """The document level: contextual block vectors (blocks, width). `counts` is on the CPU.

        Position embeddings are added before the first layer, as BERT adds them to words.
        """
        if uses_packing(self.document_level):
            return forward_packed(self.document_level, FlatTokens(position, counts), words=blocks).to(blocks.dtype)
        order, outputs = [], []
        with torch.autocast(blocks.device.type, enabled=False):  # there are few blocks
            for _, index, mask in FlatTokens(position, counts).by_length():  # documents of similar length together
                states = self.document_level(
                    inputs_embeds=blocks[index], position_ids=position[index] * mask, attention_mask=mask.long()
                ).last_hidden_state
                order.append(index[mask])
                outputs.append(states[mask])
        return torch.cat(outputs)[torch.cat(order).argsort()]

    def logits(self, cosines: Tensor) -> Tensor:
        """The logit of the matching probability: scale * cosine + bias."""
        return self.scale * cosines.float() + self.bias
