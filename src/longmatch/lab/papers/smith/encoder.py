"""SMITH's encoder (section 4.1): a transformer over the tokens of each block, then one over a document's blocks."""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from transformers import AutoModel, BertModel, PreTrainedModel
from transformers.utils.generic import ModelOutput

from longmatch.encoders.flat import FlatTokens
from longmatch.encoders.packed import forward_packed, uses_packing
from longmatch.encoders.positions import max_positions
from longmatch.encoders.pretrained import locate
from longmatch.encoders.ragged import offsets_of
from longmatch.encoders.transfer import to_device
from longmatch.errors import LongmatchError
from longmatch.lab.papers.smith.combine import Combined
from longmatch.lab.papers.smith.config import SmithConfig


@dataclass
class SmithOutput(ModelOutput):  # type: ignore[misc]
    """What the document level makes of blocks; all of it is always there.

    - documents: (documents, width) of length 1;
    - context: (blocks, width), each block in the light of the others.
    """

    documents: Tensor = None  # type: ignore[assignment]
    context: Tensor = None  # type: ignore[assignment]


class SmithModel(PreTrainedModel):  # type: ignore[misc]
    """Encodes documents given as blocks, flat over the batch, the blocks of a document one after another.

    The sentence level reads each block alone, so its memory grows with the number of blocks; only the document level
    grows with its square, and sees one vector a block.
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
        self.sentence_level = AutoModel.from_config(inner)
        if getattr(self.sentence_level, "pooler", None) is not None:
            self.sentence_level.pooler = None  # the dense layer below is in its place
        self.block = nn.Linear(width, width)
        self.document_level = BertModel(config.document_config(), add_pooling_layer=False)
        self.combined = Combined(config.combine, width)
        self.scale = nn.Parameter(torch.tensor(float(config.scale)))
        self.bias = nn.Parameter(torch.tensor(float(config.bias)))
        self.post_init()

    @classmethod
    def from_backbone(cls, name: str | None = None, **settings: Any) -> "SmithModel":
        """SMITH-Short: the sentence level from a pretrained checkpoint, by folder or hub id."""
        backbone = AutoModel.from_pretrained(locate(name), dtype=torch.float32)
        model = cls(SmithConfig(sentence_level=backbone.config.to_dict(), **settings))
        model.sentence_level.load_state_dict(backbone.state_dict(), strict=False)  # its pooler is left behind
        return model

    def changed(self, **settings: Any) -> "SmithModel":
        """A model of other settings that begins with all weights of this one that fit.

        Fewer blocks take the first of the learned positions; further ones, and another way to combine, begin new.
        """
        facts = self.config.to_dict() | settings
        model = type(self)(SmithConfig(**facts))
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
        """Numbers in a vector, of a block as of a document."""
        return int(self.block.out_features)

    @property
    def block_limit(self) -> int:
        """The most tokens of a block, special ones not counted: as configured, or what the backbone reads at once."""
        wanted = int(self.config.block_tokens)
        return min(wanted, max_positions(self.sentence_level) or wanted) - 2

    def forward(self, ids: Tensor, mask: Tensor, place: Tensor, counts: Tensor, **unused: Any) -> SmithOutput:
        """Encode blocks (blocks, tokens), each with its place in its document (blocks,); `counts` says of each
        document how many blocks it has.
        """
        return self.aggregate(self.block_vectors(self.read_tokens(ids, mask)), place, counts)

    def read_tokens(self, ids: Tensor, mask: Tensor) -> Tensor:
        """The sentence level: the token vectors of blocks, (blocks, tokens, width)."""
        hidden: Tensor = self.sentence_level(input_ids=ids, attention_mask=mask).last_hidden_state
        return hidden

    def block_vectors(self, hidden: Tensor) -> Tensor:
        """One vector of length 1 a block: the start token's, through a dense layer."""
        with torch.autocast(hidden.device.type, enabled=False):
            return nn.functional.normalize(self.block(hidden[:, 0].to(self.block.weight.dtype)), dim=1)

    def aggregate(self, blocks: Tensor, place: Tensor, counts: Tensor) -> SmithOutput:
        """The document level, from block vectors (blocks, width); what it says is combined in full precision."""
        context, offsets = self.read_blocks(blocks, place, counts), to_device(offsets_of(counts), blocks.device)
        with torch.autocast(blocks.device.type, enabled=False):
            first = context.index_select(0, offsets[:-1])
            return SmithOutput(documents=self.combined(blocks, first, offsets), context=context)

    def read_blocks(self, blocks: Tensor, place: Tensor, counts: Tensor) -> Tensor:
        """Each block in the light of its document's others: (blocks, width). `counts` is on the CPU.

        The position embedding is added, as BERT adds a word's, before layer 1.
        """
        if uses_packing(self.document_level):
            return forward_packed(self.document_level, FlatTokens(place, counts), words=blocks).to(blocks.dtype)
        with torch.autocast(blocks.device.type, enabled=False):  # there are few of them
            return self._read_padded(blocks, place, counts)

    def _read_padded(self, blocks: Tensor, place: Tensor, counts: Tensor) -> Tensor:
        """Documents of about one length are padded together, and padding is masked."""
        where, found = [], []
        for _, index, mask in FlatTokens(place, counts).by_length():
            states = self.document_level(
                inputs_embeds=blocks[index], position_ids=place[index] * mask, attention_mask=mask.long()
            ).last_hidden_state
            where.append(index[mask])
            found.append(states[mask])
        return torch.cat(found)[torch.cat(where).argsort()]

    def logits(self, cosines: Tensor) -> Tensor:
        """From cosines to what a sigmoid makes a chance of."""
        return self.scale * cosines.float() + self.bias
