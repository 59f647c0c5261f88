"""CoLDE's encoder (sections 3.1 and 3.2): chunks through a backbone, chunkwise attention, a Bi-LSTM, a projection."""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence
from transformers import AutoModel, PreTrainedModel
from transformers.utils.generic import ModelOutput

from longmatch.encoders.pretrained import locate
from longmatch.errors import LongmatchError
from longmatch.lab.encoders.flat import mean_pool
from longmatch.lab.encoders.packed import forward_packed, pool_packed, uses_packing
from longmatch.lab.encoders.positions import max_positions
from longmatch.lab.encoders.ragged import segment_mean
from longmatch.lab.encoders.transfer import to_device
from longmatch.lab.papers.colde.augmentation import ChunkBatch, ChunkLayout
from longmatch.lab.papers.colde.config import ColdeConfig


class ChunkwiseAttention(nn.Module):
    """Section 3.2: the chunks of section p (queries) attend to the chunks of section p + 1 (keys and values).

    The attention weights are returned too: they are part of the explanation.
    """

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        if width % heads:
            raise LongmatchError(
                f"The setting attention_heads is {heads}; it must divide the backbone's width, {width}."
            )
        self.heads = heads
        self.query, self.key, self.value = (nn.Linear(width, width) for _ in range(3))
        self.out = nn.Linear(width, width, bias=False)  # no bias: chunks without a next section get exactly 0

    def forward(self, chunks: Tensor, section: Tensor, document: Tensor) -> tuple[Tensor, Tensor]:
        """The attention output for each chunk (chunks, width), and the weights averaged over heads (chunks, chunks)."""
        count, width = chunks.shape
        q, k, v = (
            layer(chunks).view(count, self.heads, -1).transpose(0, 1) for layer in (self.query, self.key, self.value)
        )  # (heads, chunks, width per head)
        follows = (document[:, None] == document) & (section[:, None] + 1 == section)  # (queries, keys)
        scores = (q @ k.transpose(1, 2) / (width // self.heads) ** 0.5).masked_fill(~follows, float("-inf"))
        weights = torch.softmax(scores, dim=-1).nan_to_num(0.0)  # without a next section a row is all -inf
        outputs = (weights @ v).transpose(0, 1).reshape(count, width)
        return self.out(outputs), weights.mean(0)


@dataclass
class ColdeOutput(ModelOutput):  # type: ignore[misc]
    """Unit vectors at each level, and the attention between chunks. No field is ever None.

    - documents and sections: (documents or sections, projection width);
    - chunks: (chunks, backbone width); attended: the same plus the attention output, the LSTM's input;
    - attention: (chunks, chunks); a row sums to 1 over the chunks of the next section, or to 0.
    """

    documents: Tensor = None  # type: ignore[assignment]
    sections: Tensor = None  # type: ignore[assignment]
    chunks: Tensor = None  # type: ignore[assignment]
    attended: Tensor = None  # type: ignore[assignment]
    attention: Tensor = None  # type: ignore[assignment]


class ColdeModel(PreTrainedModel):  # type: ignore[misc]
    """Encodes the chunks of a batch, laid out flat: chunks ordered by document, section and position.

    One pass gives document and section vectors: the LSTM reads the chunks of each section for the section vectors, and
    all chunks of a document, undivided, for the document vector.
    """

    config_class = ColdeConfig
    base_model_prefix = "colde"

    def __init__(self, config: ColdeConfig) -> None:
        super().__init__(config)
        inner = config.backbone_config()
        width = inner.hidden_size
        self.backbone = AutoModel.from_config(inner)
        if config.augmented:
            self.section_embedding = nn.Embedding(max(config.sections, 1), width)
            self.chunk_embedding = nn.Embedding(config.max_chunks, width)
        if config.recurrent:
            self.attention = ChunkwiseAttention(width, config.attention_heads)
            self.recurrence = nn.LSTM(width, config.recurrent_width // 2, batch_first=True, bidirectional=True)
        self.projection = nn.Linear(config.recurrent_width if config.recurrent else width, config.projection_width)
        self.post_init()

    @classmethod
    def from_backbone(cls, name: str | None = None, **settings: Any) -> "ColdeModel":
        """A new model around a pretrained backbone: a folder or hub id; the packaged MiniLM by default.

        The section and chunk embeddings start at 0, so the backbone starts from the inputs it was trained on.
        """
        backbone = AutoModel.from_pretrained(locate(name), dtype=torch.float32)
        model = cls(ColdeConfig(backbone=backbone.config.to_dict(), **settings))
        model.backbone.load_state_dict(backbone.state_dict())
        if model.config.augmented:
            nn.init.zeros_(model.section_embedding.weight)
            nn.init.zeros_(model.chunk_embedding.weight)
        return model

    @property
    def chunk_limit(self) -> int:
        """Tokens per chunk without the special ones: as configured, or fewer if the backbone has fewer positions."""
        wanted = int(self.config.chunk_tokens)
        return min(wanted, max_positions(self.backbone) or wanted) - 2

    def layout(self, specials: tuple[int, int], max_tokens: int | None = None) -> ChunkLayout:
        """How documents are cut for this model; without augmentation a document is one section."""
        sections = self.config.sections if self.config.augmented else 1
        return ChunkLayout(sections, self.chunk_limit, specials, max_tokens)

    def forward(
        self, ids: Tensor, mask: Tensor, section: Tensor, position: Tensor, document: Tensor, **unused: Any
    ) -> ColdeOutput:
        """Encode padded chunks (chunks, tokens), given the section, position and document of each (chunks,)."""
        chunks = self.encode_chunks(ids, mask, section, position)
        return self.aggregate(chunks, section, document)

    def encode_batch(self, batch: ChunkBatch) -> ColdeOutput:
        """The vectors of a batch at every level."""
        return self.aggregate(self.encode_batch_chunks(batch), batch.section, batch.document)

    def encode_batch_chunks(self, batch: ChunkBatch) -> Tensor:
        """One vector per chunk, in the batch's order (chunks, backbone width): without padding, or padded by length."""
        if uses_packing(self.backbone):
            added = self.position_embeddings(
                to_device(batch.section, batch.device), to_device(batch.position, batch.device)
            )
            return pool_packed(forward_packed(self.backbone, batch.text, added), batch.text)

        def encode(ids: Tensor, mask: Tensor, rows: Tensor) -> Tensor:
            section, position = (to_device(numbers[rows], batch.device) for numbers in (batch.section, batch.position))
            return self.encode_chunks(ids, mask.long(), section, position)

        return batch.text.encode_each(encode)

    def encode_chunks(self, ids: Tensor, mask: Tensor, section: Tensor, position: Tensor) -> Tensor:
        """One vector per chunk: the mean over its real tokens."""
        embedded, added = self.backbone.get_input_embeddings()(ids), self.position_embeddings(section, position)
        if added is not None:
            embedded = embedded + added[:, None]
        return mean_pool(self.backbone(inputs_embeds=embedded, attention_mask=mask).last_hidden_state, mask)

    def position_embeddings(self, section: Tensor, position: Tensor) -> Tensor | None:
        """Section 3.1, S_p + C_q: added to every token embedding of a chunk (chunks, width); None if not augmented."""
        if not self.config.augmented:
            return None
        position = position.clamp(max=self.config.max_chunks - 1)
        added: Tensor = self.section_embedding(section) + self.chunk_embedding(position)
        return added

    def aggregate(self, chunks: Tensor, section: Tensor, document: Tensor) -> ColdeOutput:
        """Section and document vectors from chunk vectors; in full precision, as there are few of them.

        Keep `section` and `document` (chunks,) on the CPU even if the chunks are on a GPU: it saves synchronisation.
        """
        with torch.autocast(chunks.device.type, enabled=False):
            chunks = sequence = chunks.to(self.projection.weight.dtype)
            attention = chunks.new_zeros((len(chunks), len(chunks)))
            if self.config.recurrent:
                added, attention = self.attention(
                    chunks, to_device(section, chunks.device), to_device(document, chunks.device)
                )
                sequence = chunks + added
            section_offsets = run_offsets(document * (int(section.max()) + 1) + section)
            return ColdeOutput(
                documents=self._summarise(sequence, run_offsets(document)),
                sections=self._summarise(sequence, section_offsets),
                chunks=nn.functional.normalize(chunks, dim=1),
                attended=nn.functional.normalize(sequence, dim=1),
                attention=attention,
            )

    def _summarise(self, sequence: Tensor, offsets: Tensor) -> Tensor:
        """z = Proj(f(x)) for each run of chunks: the LSTM's last states in both directions, projected, normalised."""
        if self.config.recurrent:
            _, (last, _) = self.recurrence(packed_runs(sequence, offsets.cpu()))  # (2, runs, width / 2)
            summary = torch.cat([last[0], last[1]], dim=1)
        else:
            summary = segment_mean(sequence, to_device(offsets, sequence.device))
        return nn.functional.normalize(self.projection(summary), dim=1)


def run_offsets(keys: Tensor) -> Tensor:
    """The start of each run of equal keys, and the end.

    >>> run_offsets(torch.tensor([7, 7, 3, 3, 3, 7])).tolist()
    [0, 2, 5, 6]
    """
    changes = (keys.diff() != 0).nonzero().flatten() + 1
    return torch.cat([changes.new_zeros(1), changes, changes.new_tensor([len(keys)])])


def packed_runs(rows: Tensor, offsets: Tensor) -> PackedSequence:
    """Runs of rows packed for an LSTM, which then reads no padding; equal to `pack_sequence`.

    One index_select picks all rows, where a loop over runs would make a GPU wait for the CPU. `offsets` is on the CPU.
    """
    lengths, order = offsets.diff().sort(descending=True, stable=True)
    steps = torch.arange(int(lengths[0]))[:, None]
    exists = steps < lengths  # (steps, runs)
    index = (offsets[:-1][order] + steps)[exists]
    order, inverse = to_device(order, rows.device), to_device(order.argsort(), rows.device)
    return PackedSequence(rows.index_select(0, to_device(index, rows.device)), exists.sum(1), order, inverse)
