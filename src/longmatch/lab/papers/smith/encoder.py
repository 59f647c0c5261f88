"""SMITH's encoder (section 4.1): a transformer over the tokens of each block, then one over a document's blocks."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

import torch
from safetensors import SafetensorError
from torch import Tensor, nn
from transformers import AutoModel, BertModel, PreTrainedModel
from transformers.utils.generic import ModelOutput

from longmatch.encoders.pretrained import locate
from longmatch.errors import LongmatchError
from longmatch.lab.encoders.checkpoint import open_checkpoint, open_tokenizer
from longmatch.lab.encoders.engine import max_positions
from longmatch.lab.encoders.flat import FlatTokens, mean_pool
from longmatch.lab.encoders.packed import forward_packed, pool_packed, uses_packing
from longmatch.lab.encoders.ragged import offsets_of, segment_mean, segment_softmax, segment_sum, to_device
from longmatch.lab.papers.smith.batch import BlockBatch, BlockLayout
from longmatch.lab.papers.smith.config import Combine, SmithConfig


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
        inputs = [output] if self.combine == "normal" else [self._summary(blocks, offsets), output]
        if self.normalised:
            inputs = [nn.functional.normalize(part, dim=1) for part in inputs]
        return nn.functional.normalize(self.dense(torch.cat(inputs, dim=1)), dim=1)

    def _summary(self, blocks: Tensor, offsets: Tensor) -> Tensor:
        if self.combine == "sum-concat":
            return segment_sum(blocks, offsets)
        if self.combine == "mean-concat":
            return segment_mean(blocks, offsets)
        return segment_sum(blocks * self.weights(blocks, offsets), offsets)

    def weights(self, blocks: Tensor, offsets: Tensor) -> Tensor:
        """softmax(h_i W v) over the blocks of each document: (blocks, 1)."""
        return segment_softmax(self.question(self.projection(blocks)), offsets)


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
        inner = config.sentence_config()
        width = inner.hidden_size
        if width % config.document_heads:
            raise LongmatchError(
                f"The document level has {config.document_heads} heads; they must divide the width, {width}."
            )
        self.sentence_level = AutoModel.from_config(inner, trust_remote_code=False)
        if getattr(self.sentence_level, "pooler", None) is not None:
            self.sentence_level.pooler = None  # replaced by the dense layer below
        self.block = nn.Linear(width, width)
        self.document_level = BertModel(config.document_config(), add_pooling_layer=False)
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

    @property
    def block_limit(self) -> int:
        """Tokens per block without the special ones: as configured, or fewer if the backbone has fewer positions."""
        wanted = int(self.config.block_tokens)
        return min(wanted, max_positions(self.sentence_level) or wanted) - 2

    def layout(self, specials: tuple[int, int]) -> BlockLayout:
        """How documents are cut for this model."""
        return BlockLayout(self.block_limit, int(self.config.max_blocks), specials, bool(self.config.cut_long))

    def forward(self, ids: Tensor, mask: Tensor, position: Tensor, counts: Tensor, **unused: Any) -> SmithOutput:
        """Encode padded blocks (blocks, tokens), given their positions (blocks,) and the number of blocks of each
        document (documents,).
        """
        return self.aggregate(self.block_vectors(self.encode_tokens(ids, mask), mask), position, counts)

    def encode_batch(self, batch: BlockBatch) -> SmithOutput:
        """The vectors of a batch's documents."""
        return self.aggregate(self.encode_batch_blocks(batch), batch.position, batch.counts)

    def encode_batch_blocks(self, batch: BlockBatch) -> Tensor:
        """One unit vector per block, in the batch's order (blocks, width): without padding, or padded by length."""
        if uses_packing(self.sentence_level):
            return self.packed_block_vectors(forward_packed(self.sentence_level, batch.text), batch.text)
        return batch.text.encode_each(
            lambda ids, mask, _: self.block_vectors(self.encode_tokens(ids, mask.long()), mask)
        )

    def encode_tokens(self, ids: Tensor, mask: Tensor) -> Tensor:
        """The sentence level: token vectors of blocks, (blocks, tokens, width)."""
        hidden: Tensor = self.sentence_level(input_ids=ids, attention_mask=mask).last_hidden_state
        return hidden

    def block_vectors(self, hidden: Tensor, mask: Tensor) -> Tensor:
        """One unit vector per block, from its start token or the mean of its tokens: (blocks, width)."""
        with torch.autocast(hidden.device.type, enabled=False):
            return self._projected(mean_pool(hidden, mask) if self._reads_mean else hidden[:, 0])

    def packed_block_vectors(self, states: Tensor, text: FlatTokens) -> Tensor:
        """The same from token vectors without padding: (tokens, width) -> (blocks, width)."""
        with torch.autocast(states.device.type, enabled=False):
            return self._projected(pool_packed(states, text, "mean" if self._reads_mean else "cls"))

    @property
    def _reads_mean(self) -> bool:
        return bool(self.config.block_pooling == "mean")

    def _projected(self, pooled: Tensor) -> Tensor:
        """A dense layer, then length 1."""
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
        with torch.autocast(blocks.device.type, enabled=False):  # there are few blocks
            return self._contextualise_padded(blocks, position, counts)

    def _contextualise_padded(self, blocks: Tensor, position: Tensor, counts: Tensor) -> Tensor:
        """Documents of similar length are padded together, padding masked."""
        order, outputs = [], []
        for _, index, mask in FlatTokens(position, counts).by_length():
            states = self.document_level(
                inputs_embeds=blocks[index], position_ids=position[index] * mask, attention_mask=mask.long()
            ).last_hidden_state
            order.append(index[mask])
            outputs.append(states[mask])
        return torch.cat(outputs)[torch.cat(order).argsort()]

    def logits(self, cosines: Tensor) -> Tensor:
        """The logit of the matching probability: scale * cosine + bias."""
        return self.scale * cosines.float() + self.bias


def open_smith(folder: str | Path) -> tuple[SmithModel, Any]:
    """The encoder and tokenizer in a folder written by `longmatch train smith` or `smith-pretrain`."""
    from transformers.utils import logging

    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        kind = json.loads((Path(folder) / "config.json").read_text(encoding="utf-8"))["model_type"]
        if kind != SmithConfig.model_type:
            raise ValueError(f"it holds a model of type {kind}")
        model: SmithModel = open_checkpoint(SmithModel, folder)
        return model, open_tokenizer(str(folder))
    except (OSError, ValueError, KeyError, TypeError, SafetensorError) as error:
        reason = str(error).strip().splitlines()[0].rstrip(".")
        raise LongmatchError(
            f"The SMITH model {folder} cannot be opened ({reason}). Name a folder written by `longmatch train smith` "
            "or `longmatch train smith-pretrain`."
        ) from error
