"""The mean of a document's chunks, weighted by tokens: the matcher of `longmatch train mean`."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor
from transformers import AutoModel

from longmatch.lab.baselines.siamese.encoding import VectorEncoding
from longmatch.lab.baselines.siamese.explanation import explain
from longmatch.lab.encoders.backbone import Precision, TorchNetwork
from longmatch.lab.encoders.checkpoint import special_tokens
from longmatch.lab.encoders.flat import FlatTokens, PieceBatch, mean_pool
from longmatch.lab.encoders.packed import forward_packed, pool_packed, uses_packing
from longmatch.lab.encoders.ragged import offsets_of, weighted_segment_mean
from longmatch.lab.matchers import TrainedMatcher, open_trained
from longmatch.matching.match import Match
from longmatch.matching.sentences import Sentences
from longmatch.units import Tokens
from longmatch.units.chunking import piece_ends
from longmatch.units.pieces import pieces_from

SPECIALS = 2  # tokens around each chunk


@dataclass(frozen=True)
class ChunkedDocuments(PieceBatch):
    """The chunks of a batch of documents, one after another."""

    counts: Tensor  # (documents,) chunks of each

    @property
    def lengths(self) -> Tensor:
        """The tokens of each chunk without the special ones: (chunks,)."""
        return self.text.lengths - SPECIALS

    def groups(self, budget: int) -> Iterator["ChunkedDocuments"]:
        """Runs of whole documents of at most `budget` tokens; a longer document is a group by itself."""
        chunks = offsets_of(self.counts).tolist()
        for first, last in self._runs(self.counts, budget):
            yield ChunkedDocuments(self.text.between(chunks[first], chunks[last]), self.counts[first:last])


@dataclass(frozen=True)
class ChunkedLayout:
    """Documents cut into chunks of at most `limit` tokens, without the special ones; `max_tokens` truncates them."""

    limit: int
    specials: tuple[int, int]
    max_tokens: int | None = None

    def bounds(self, tokens: Tokens) -> list[int]:
        """The first token of each chunk, and the end."""
        read = tokens.truncated(self.max_tokens)
        return [0, *piece_ends(read, 0, len(read), self.limit)]

    def lay_out(self, documents: Sequence[Tokens]) -> ChunkedDocuments:
        """The chunks of documents as one batch."""
        bounds = [self.bounds(tokens) for tokens in documents]
        cuts = zip(documents, bounds, strict=True)
        pieces = [tokens.ids[first:last] for tokens, ends in cuts for first, last in pairwise(ends)]
        return ChunkedDocuments(FlatTokens.of(pieces, self.specials), torch.tensor([len(b) - 1 for b in bounds]))


def chunk_layout(
    model: Any, specials: tuple[int, int], chunk_tokens: int, max_tokens: int | None = None
) -> ChunkedLayout:
    """Chunks of `chunk_tokens` tokens, start and end tokens included, or fewer if the backbone has fewer positions."""
    return ChunkedLayout(min(chunk_tokens, TorchNetwork(model).positions) - SPECIALS, specials, max_tokens)


def encode_pieces(model: Any, text: FlatTokens) -> Tensor:
    """The mean of each piece's token vectors (pieces, width): without padding, or padded by length."""
    if uses_packing(model):
        return pool_packed(forward_packed(model, text, None), text)

    def encode(ids: Tensor, mask: Tensor, _: Tensor) -> Tensor:
        return mean_pool(model(input_ids=ids, attention_mask=mask.long()).last_hidden_state, mask)

    return text.encode_each(encode)


def document_means(chunks: Tensor, batch: ChunkedDocuments) -> Tensor:
    """The mean of each document's chunks, weighted by tokens: (chunks, width) -> (documents, width)."""
    return weighted_segment_mean(chunks.float(), batch.lengths, offsets_of(batch.counts))


class ChunkMeanMatcher(TrainedMatcher[VectorEncoding]):
    """The cosine of two documents' means, explained by each chunk's share of them."""

    name = "mean"

    def __init__(self, model: Any, tokenizer: Any, precision: Precision | None = None) -> None:
        super().__init__(model, tokenizer, precision)
        self.layout = chunk_layout(model, special_tokens(tokenizer, self.name), int(tokenizer.model_max_length))

    @classmethod
    def load(
        cls, folder: str | Path, device: str | None = None, precision: Precision | None = None
    ) -> "ChunkMeanMatcher":
        """Open a folder written by `longmatch train mean`."""
        return cls(*open_trained(AutoModel, folder, device, "mean"), precision)

    @property
    def width(self) -> int:
        """The backbone's hidden size."""
        return int(self.model.config.hidden_size)

    @property
    def threshold(self) -> float | None:
        """The cosine from which a pair counts as a match, chosen on validation pairs."""
        return getattr(self.model.config, "threshold", None)

    @torch.no_grad()
    def encode_tokens(self, documents: Sequence[Tokens]) -> Iterator[VectorEncoding]:
        """Encode documents, each alone."""
        batch = self.layout.lay_out(documents).to(self.device)
        chunks = encode_pieces(self.model, batch.text)
        counts = batch.counts.tolist()
        weights = batch.lengths.float().split(counts)
        means = document_means(chunks, batch).cpu()
        for tokens, mean, mine, weight in zip(
            documents, means, chunks.float().cpu().split(counts), weights, strict=True
        ):
            length = mean.norm().clamp(min=1e-12)
            bounds = np.array(self.layout.bounds(tokens))
            sentences = Sentences.of(pieces_from(tokens, bounds[:-1], bounds[1:]))
            yield VectorEncoding(sentences, mean / length, mine * (weight / weight.sum() / length)[:, None], 1.0)

    def explain(self, a: VectorEncoding, b: VectorEncoding, collection: Tensor | None = None) -> Match:
        """The cosine as a sum over the chunks of each document."""
        return explain(a, b, self.name, None, self.threshold)
