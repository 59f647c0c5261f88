"""CoLDE's encoder (sections 3.1 and 3.2): chunks through a backbone, chunkwise attention, a Bi-LSTM, a projection.

Before it Aug(x) (section 3.1): documents are cut into a few sections, sections into chunks, chunks laid out flat. The
defaults of the configuration are the paper's (section 4.1.2). Training has its own (`ColdeSettings`).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor, nn
from transformers import AutoModel, PretrainedConfig, PreTrainedModel
from transformers.utils.generic import ModelOutput

from longmatch.encoders.pretrained import locate
from longmatch.errors import LongmatchError
from longmatch.lab.encoders.checkpoint import nested_config, open_checkpoint, set_dropout
from longmatch.lab.encoders.engine import max_positions
from longmatch.lab.encoders.flat import DocumentPieces, PieceBatch, groups_within, mean_pool
from longmatch.lab.encoders.packed.bert import forward_packed, pool_packed, uses_packing
from longmatch.lab.encoders.ragged import PackedOrder, offsets_of, to_device, weighted_segment_mean
from longmatch.units.pieces import piece_ends
from longmatch.units.tokens import Ints, Tokens

SPECIALS = 2  # tokens around each chunk
Readout = Literal["last", "mean"]


class ColdeConfig(PretrainedConfig):  # type: ignore[misc]
    """The parts and sizes of a CoLDE model.

    The paper (TKDD 2023, section 4.1.2): two sections, chunks of 512 tokens, 4 attention heads, a bidirectional LSTM
    with 512 outputs, projection to 256, temperature 0.5. Where the paper is silent we chose: a chunk's vector is the
    mean of its token vectors; the last section has no successor, so attention adds nothing to it; chunks from position
    `max_chunks` on share the last chunk embedding. A `projection_width` of None means no projection.

    `readout` says how the chunks of a section, or of a document, become one vector: by the LSTM's `last` state in each
    direction, or by the `mean` of its outputs, weighted by the chunks' tokens. Without the LSTM, `last` is the plain
    mean of the chunk vectors and `mean` the weighted one. With `residual` the LSTM's summary is added to the mean of
    the chunk vectors, through a layer that starts at 0, and the projection starts orthogonal: an untrained model then
    ranks as its backbone does, and LSTM and attention learn what to change. The forget gates of the LSTM start with the
    bias `forget_bias`: with a positive one, early chunks reach the end of a long document.

    Ablations (section 4.5): `augmented=False` drops the sections and their embeddings (4.5.1, -Aug), `recurrent=False`
    replaces LSTM and attention by the mean of the chunk vectors (4.5.2, -LSTM), `contrastive=False` trains on the
    cosine of labelled pairs (4.5.3, -CL) and, as in the paper, drops the sections as well.
    """

    model_type = "longmatch-colde"
    backbone: dict[str, Any] | None = None
    sections: int = 2
    chunk_tokens: int = 512
    max_chunks: int = 64
    attention_heads: int = 4
    recurrent_width: int = 512
    projection_width: int | None = 256
    loss_temperature: float = 0.5
    readout: Readout = "last"
    forget_bias: float = 0.0
    residual: bool = False
    augmented: bool = True
    recurrent: bool = True
    contrastive: bool = True
    threshold: float | None = None  # pairs with at least this score match; chosen on validation pairs

    def __post_init__(self, **others: Any) -> None:
        self.augmented = self.augmented and self.contrastive
        super().__post_init__(**others)


@dataclass(frozen=True)
class ChunkRanges:
    """The chunks of one document: chunk i is the tokens first[i]:last[i]."""

    first: Ints  # (chunks,)
    last: Ints  # (chunks,)
    section: Ints  # (chunks,) p, the section of each chunk
    position: Ints  # (chunks,) q, its position in the section, from 0

    def __len__(self) -> int:
        return len(self.first)


def chunk_ranges(tokens: Tokens, sections: int = 2, limit: int = 510) -> ChunkRanges:
    """Cut a document into sections of about equal length, and each section into chunks of at most `limit` tokens.

    Sections begin at headings; where there are too few headings, at paragraphs, then at sentences, then at any token. A
    document of fewer tokens than `sections` has fewer sections. Only the tokens are needed, not the document's text.
    """
    rows: list[tuple[int, int, int, int]] = []
    for section, (start, end) in enumerate(pairwise(section_bounds(tokens, sections))):
        ends = piece_ends(tokens, start, end, limit)
        rows += [(first, last, section, position) for position, (first, last) in enumerate(pairwise([start, *ends]))]
    return ChunkRanges(*np.array(rows, dtype=np.int64).reshape(-1, 4).T)


def section_bounds(tokens: Tokens, sections: int) -> list[int]:
    """The first token of each section, and the end: as evenly spaced as the document's structure allows."""
    total = len(tokens)
    sections = max(1, min(sections, total))
    sentences = tokens.sentence_offsets[1:-1]
    headings = sentences[np.diff(tokens.sentence_section) > 0]
    paragraphs = sentences[np.diff(tokens.sentence_paragraph) > 0]
    for candidates in (headings, paragraphs, sentences, np.arange(1, total)):  # the best kind of place first
        if len(candidates) >= sections - 1:
            break
    bounds = [0]
    for number in range(1, sections):
        left = candidates[candidates > bounds[-1]]
        left = left[: len(left) - (sections - 1 - number)]  # leave one candidate for each cut to come
        bounds.append(int(left[np.abs(left - total * number / sections).argmin()]))
    return [*bounds, total]


@dataclass(frozen=True)
class ChunkBatch(PieceBatch):
    """The chunks of a batch of documents, one after another."""

    section: Tensor  # (chunks,) the section of each chunk, numbered within its document
    position: Tensor  # (chunks,) its position in the section
    document: Tensor  # (chunks,) its document, numbered within the batch

    def __len__(self) -> int:
        return len(self.text)

    @property
    def lengths(self) -> Tensor:
        """The tokens of each chunk without the special ones: (chunks,)."""
        return self.text.lengths - SPECIALS

    def groups(self, budget: int) -> Iterator["ChunkBatch"]:
        """Runs of whole documents of at most `budget` tokens; a longer document is a group by itself."""
        counts = torch.unique_consecutive(self.document, return_counts=True)[1]
        chunks = offsets_of(counts)  # first chunk of each document
        for run in groups_within(offsets_of(self.text.lengths)[chunks].diff(), budget):
            first, last = (int(chunks[place]) for place in run)
            numbers = (values[first:last] for values in (self.section, self.position, self.document))
            yield ChunkBatch(self.text.between(first, last), *numbers)


@dataclass(frozen=True)
class ChunkLayout:
    """How documents are cut for a model: sections, tokens per chunk, the special tokens around each chunk.

    `max_tokens` truncates documents (the paper's study of document length, section 4.4.2, and cheaper training).
    """

    sections: int
    limit: int  # tokens per chunk without the special ones
    specials: tuple[int, int]
    max_tokens: int | None = None

    def ranges(self, tokens: Tokens) -> ChunkRanges:
        """The chunks of a document within its first `max_tokens` tokens."""
        return chunk_ranges(tokens.truncated(self.max_tokens), self.sections, self.limit)

    def lay_out(self, documents: Sequence[Tokens]) -> ChunkBatch:
        """The chunks of documents as one batch."""
        cuts = [self.ranges(tokens) for tokens in documents]
        pieces = DocumentPieces.of(documents, [(cut.first, cut.last) for cut in cuts], self.specials)
        section = np.concatenate([cut.section for cut in cuts])
        position = np.concatenate([cut.position for cut in cuts])
        document = torch.repeat_interleave(pieces.counts)
        return ChunkBatch(pieces.text, torch.from_numpy(section), torch.from_numpy(position), document)


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
        for layer in (self.query, self.key, self.value, self.out):
            nn.init.xavier_uniform_(layer.weight)  # as in nn.MultiheadAttention

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
    all chunks of a document, as one sequence, for the document vector.
    """

    config_class = ColdeConfig
    base_model_prefix = "colde"

    def _init_weights(self, module: nn.Module) -> None:
        """Keep torch's initial values: a transformer's are so small that the attention would start uniform."""

    def __init__(self, config: ColdeConfig) -> None:
        super().__init__(config)
        inner = nested_config(config.backbone)
        width = inner.hidden_size
        self.backbone = AutoModel.from_config(inner, trust_remote_code=False)
        if config.augmented:
            self.section_embedding = nn.Embedding(max(config.sections, 1), width)
            self.chunk_embedding = nn.Embedding(config.max_chunks, width)
        if config.recurrent:
            self.attention = ChunkwiseAttention(width, config.attention_heads)
            half = config.recurrent_width // 2
            self.recurrence = nn.LSTM(width, half, batch_first=True, bidirectional=True)
            with torch.no_grad():
                for name, weight in self.recurrence.named_parameters():  # gates: input, forget, cell, output
                    if name.startswith("bias"):
                        weight[half : 2 * half] = config.forget_bias if name.startswith("bias_ih") else 0.0
            if config.residual:
                self.change = nn.Linear(config.recurrent_width, width)
        self.summary_width = width if config.residual or not config.recurrent else config.recurrent_width
        self.projection: nn.Module = nn.Identity()
        if config.projection_width is not None:
            self.projection = nn.Linear(self.summary_width, config.projection_width)
        self.post_init()

    @classmethod
    def from_backbone(cls, name: str | None = None, dropout: float | None = None, **settings: Any) -> "ColdeModel":
        """A new model around a pretrained backbone: a folder or hub id; the packaged MiniLM by default.

        The section and chunk embeddings start at 0, so the backbone starts from the inputs it was trained on.
        """
        backbone = open_checkpoint(AutoModel, locate(name))
        set_dropout(backbone, dropout)
        model = cls(ColdeConfig(backbone=backbone.config.to_dict(), **settings))
        model.backbone.load_state_dict(backbone.state_dict())
        zeros = [model.section_embedding.weight, model.chunk_embedding.weight] if model.config.augmented else []
        if model.config.residual:  # start from the backbone's answers: nothing is added, the projection turns alone
            if isinstance(model.projection, nn.Linear):
                nn.init.orthogonal_(model.projection.weight)
                zeros.append(model.projection.bias)
            if model.config.recurrent:
                zeros += [model.change.weight, model.change.bias, model.attention.out.weight]
        for weight in zeros:
            nn.init.zeros_(weight)
        return model

    @property
    def width(self) -> int:
        """The size of a document vector."""
        return int(self.config.projection_width or self.summary_width)

    def layout(self, specials: tuple[int, int], max_tokens: int | None = None) -> ChunkLayout:
        """How documents are cut for this model; without augmentation a document is one section."""
        sections = self.config.sections if self.config.augmented else 1
        wanted = int(self.config.chunk_tokens)
        limit = min(wanted, max_positions(self.backbone) or wanted) - SPECIALS  # a backbone may have fewer positions
        return ChunkLayout(sections, limit, specials, max_tokens)

    def forward(
        self, ids: Tensor, mask: Tensor, section: Tensor, position: Tensor, document: Tensor, **unused: Any
    ) -> ColdeOutput:
        """Encode padded chunks (chunks, tokens), given the section, position and document of each (chunks,)."""
        chunks = self.encode_chunks(ids, mask, section, position)
        return self.aggregate(chunks, section, document, mask.sum(1) - SPECIALS)

    def encode_batch(self, batch: ChunkBatch, unit: bool = True) -> ColdeOutput:
        """The vectors of a batch at every level; see `aggregate`."""
        return self.aggregate(self.encode_batch_chunks(batch), batch.section, batch.document, batch.lengths, unit)

    def encode_batch_chunks(self, batch: ChunkBatch) -> Tensor:
        """One vector per chunk, in the batch's order (chunks, backbone width): without padding, or padded by length."""
        section, position = to_device(batch.section, batch.device), to_device(batch.position, batch.device)
        if uses_packing(self.backbone):
            added = self.position_embeddings(section, position)
            return pool_packed(forward_packed(self.backbone, batch.text, added), batch.text)

        def encode(ids: Tensor, mask: Tensor, rows: Tensor) -> Tensor:
            rows = to_device(rows, batch.device)
            return self.encode_chunks(ids, mask.long(), section[rows], position[rows])

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
        return torch.add(self.section_embedding(section), self.chunk_embedding(position))

    def aggregate(
        self, chunks: Tensor, section: Tensor, document: Tensor, lengths: Tensor, unit: bool = True
    ) -> ColdeOutput:
        """Section and document vectors from chunk vectors; in full precision, as there are few of them.

        Keep `section`, `document` and `lengths`, the tokens of each chunk (chunks,), on the CPU even if the chunks are
        on a GPU: it saves synchronisation. Without `unit`, section and document vectors keep their length.
        """
        with torch.autocast(chunks.device.type, enabled=False):
            chunks = sequence = chunks.to(self.dtype)
            attention = chunks.new_zeros((len(chunks), len(chunks)))
            if self.config.recurrent:
                added, attention = self.attention(
                    chunks, to_device(section, chunks.device), to_device(document, chunks.device)
                )
                sequence = chunks + added
            vectors = []
            for key in (document, document * (int(section.max()) + 1) + section):
                z = self.projection(self._summary(sequence, run_offsets(key), lengths))  # z = Proj(f(x))
                vectors.append(nn.functional.normalize(z, dim=1) if unit else z)
            chunks, attended = (nn.functional.normalize(each, dim=1) for each in (chunks, sequence))
            return ColdeOutput(vectors[0], vectors[1], chunks, attended, attention)

    def _summary(self, sequence: Tensor, offsets: Tensor, lengths: Tensor) -> Tensor:
        """f(x) for each run of chunks: the LSTM's last states in both directions, or the mean of all its outputs."""
        weights = torch.ones_like(lengths) if self.config.readout == "last" else lengths
        if not self.config.recurrent:
            return weighted_segment_mean(sequence, weights, offsets)
        order = PackedOrder.of(offsets.cpu())
        outputs, (last, _) = self.recurrence(order.pack(sequence))  # last: (2, runs, width / 2)
        if self.config.readout == "last":
            summary = torch.cat([last[0], last[1]], dim=1)
        else:
            summary = weighted_segment_mean(order.unpack(outputs), weights, offsets)
        if not self.config.residual:
            return summary
        return torch.add(weighted_segment_mean(sequence, lengths, offsets), self.change(summary))


def run_offsets(keys: Tensor) -> Tensor:
    """The start of each run of equal keys, and the end.

    >>> run_offsets(torch.tensor([7, 7, 3, 3, 3, 7])).tolist()
    [0, 2, 5, 6]
    """
    changes = (keys.diff() != 0).nonzero().flatten() + 1
    return torch.cat([changes.new_zeros(1), changes, changes.new_tensor([len(keys)])])
