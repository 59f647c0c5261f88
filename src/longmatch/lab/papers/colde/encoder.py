"""CoLDE's encoder (section 3): chunks through a backbone, chunkwise attention, a bidirectional LSTM, a projection."""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence
from transformers import AutoModel, PreTrainedModel
from transformers.utils.generic import ModelOutput

from longmatch.encoders.flat import mean_pool
from longmatch.encoders.positions import max_positions
from longmatch.encoders.pretrained import locate
from longmatch.encoders.ragged import segment_mean
from longmatch.encoders.transfer import to_device
from longmatch.lab.papers.colde.attention import ChunkwiseAttention
from longmatch.lab.papers.colde.config import ColdeConfig


@dataclass
class ColdeOutput(ModelOutput):  # type: ignore[misc]
    """Vectors of length 1 at each level, and the attention between chunks; all of them are always there.

    - documents and sections: (documents or sections, projection width);
    - chunks: (chunks, backbone width); attended: the same with what attention adds, as the LSTM reads them;
    - attention: (chunks, chunks), rows sum to 1 over the next section's chunks, or to 0.
    """

    documents: Tensor = None  # type: ignore[assignment]
    sections: Tensor = None  # type: ignore[assignment]
    chunks: Tensor = None  # type: ignore[assignment]
    attended: Tensor = None  # type: ignore[assignment]
    attention: Tensor = None  # type: ignore[assignment]


class ColdeModel(PreTrainedModel):  # type: ignore[misc]
    """Encodes documents given as chunks, flat over the batch: the chunks of a section, and the sections of a document,
    stand one after another. Document and section vectors come from one pass: the LSTM reads each section's chunks for
    the one, and all chunks of the document, uncut, for the other.
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
        """A new model around a pretrained backbone, by folder or hub id; the packaged MiniLM by default.

        The section and chunk embeddings begin at 0, so that the first step sees the backbone as it was trained.
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
        """The most tokens of a chunk, special ones not counted: as configured, or what the backbone reads at once."""
        wanted = int(self.config.chunk_tokens)
        return min(wanted, max_positions(self.backbone) or wanted) - 2

    def forward(
        self, ids: Tensor, mask: Tensor, section: Tensor, place: Tensor, document: Tensor, **unused: Any
    ) -> ColdeOutput:
        """Encode chunks (chunks, tokens), each with its section, its place there and its document: (chunks,)."""
        chunks = self.encode_chunks(ids, mask, section, place)
        return self.aggregate(chunks, section, document)

    def encode_chunks(self, ids: Tensor, mask: Tensor, section: Tensor, place: Tensor) -> Tensor:
        """One vector a chunk: the mean over its real tokens; section and chunk embeddings go in before layer 1."""
        embedded, added = self.backbone.get_input_embeddings()(ids), self.added_to_words(section, place)
        if added is not None:
            embedded = embedded + added[:, None]
        return mean_pool(self.backbone(inputs_embeds=embedded, attention_mask=mask).last_hidden_state, mask)

    def added_to_words(self, section: Tensor, place: Tensor) -> Tensor | None:
        """What is added to the embedding of each word of a chunk: (chunks, width); None without augmentation."""
        if not self.config.augmented:
            return None
        place = place.clamp(max=self.config.max_chunks - 1)
        added: Tensor = self.section_embedding(section) + self.chunk_embedding(place)
        return added

    def aggregate(self, chunks: Tensor, section: Tensor, document: Tensor) -> ColdeOutput:
        """From chunk vectors to section and document vectors; in full precision, for there are few of them.

        Sections and documents (chunks,) are best on the CPU, wherever the chunks are: nothing is waited for then.
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
        """One vector for each run of chunks: the LSTM's last states of both directions, projected, of length 1."""
        if self.config.recurrent:
            _, (last, _) = self.recurrence(packed_runs(sequence, offsets.cpu()))  # (2, runs, width / 2)
            summary = torch.cat([last[0], last[1]], dim=1)
        else:
            summary = segment_mean(sequence, to_device(offsets, sequence.device))
        return nn.functional.normalize(self.projection(summary), dim=1)


def run_offsets(keys: Tensor) -> Tensor:
    """Where each run of equal keys begins, and the end.

    >>> run_offsets(torch.tensor([7, 7, 3, 3, 3, 7])).tolist()
    [0, 2, 5, 6]
    """
    changes = (keys.diff() != 0).nonzero().flatten() + 1
    return torch.cat([changes.new_zeros(1), changes, changes.new_tensor([len(keys)])])


def packed_runs(rows: Tensor, offsets: Tensor) -> PackedSequence:
    """Runs of rows as an LSTM reads them, each to its own end, not over padding: what `pack_sequence` gives.

    By one step that picks all rows: run by run a GPU would wait for the processor. `offsets` are on the CPU.
    """
    lengths, order = offsets.diff().sort(descending=True, stable=True)
    steps = torch.arange(int(lengths[0]))[:, None]
    there = steps < lengths  # (steps, runs)
    index = (offsets[:-1][order] + steps)[there]
    order, back = to_device(order, rows.device), to_device(order.argsort(), rows.device)
    return PackedSequence(rows.index_select(0, to_device(index, rows.device)), there.sum(1), order, back)
