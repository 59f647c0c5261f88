"""The mean of a document's chunks, weighted by tokens: the matcher of `longmatch train mean`."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from transformers import AutoModel

from longmatch.lab.baselines.siamese.encoding import VectorEncoding
from longmatch.lab.baselines.siamese.explanation import explain
from longmatch.lab.encoders.backbone import Precision, TorchNetwork
from longmatch.lab.encoders.flat import FlatTokens, mean_pool
from longmatch.lab.encoders.packed import forward_packed, pool_packed, uses_packing
from longmatch.lab.encoders.ragged import weighted_segment_mean
from longmatch.lab.encoders.tokenizer import special_tokens
from longmatch.lab.matchers import TrainedMatcher, open_trained
from longmatch.lab.papers.colde.augmentation import SPECIALS, ChunkBatch, ChunkLayout
from longmatch.lab.papers.colde.encoder import run_offsets
from longmatch.matching.match import Match
from longmatch.matching.sentences import Sentences
from longmatch.units import Tokens
from longmatch.units.pieces import pieces_from


def chunk_layout(
    model: Any, specials: tuple[int, int], chunk_tokens: int, max_tokens: int | None = None
) -> ChunkLayout:
    """Chunks of `chunk_tokens` tokens, start and end tokens included, or fewer if the backbone has fewer positions."""
    return ChunkLayout(1, min(chunk_tokens, TorchNetwork(model).positions) - SPECIALS, specials, max_tokens)


def encode_pieces(model: Any, text: FlatTokens) -> Tensor:
    """The mean of each piece's token vectors (pieces, width): without padding, or padded by length."""
    if uses_packing(model):
        return pool_packed(forward_packed(model, text, None), text)

    def encode(ids: Tensor, mask: Tensor, _: Tensor) -> Tensor:
        return mean_pool(model(input_ids=ids, attention_mask=mask.long()).last_hidden_state, mask)

    return text.encode_each(encode)


def document_means(chunks: Tensor, batch: ChunkBatch) -> Tensor:
    """The mean of each document's chunks, weighted by tokens: (chunks, width) -> (documents, width)."""
    return weighted_segment_mean(chunks.float(), batch.lengths, run_offsets(batch.document))


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
        counts = torch.unique_consecutive(batch.document, return_counts=True)[1].tolist()
        weights = batch.lengths.float().split(counts)
        means = document_means(chunks, batch).cpu()
        for tokens, mean, mine, weight in zip(
            documents, means, chunks.float().cpu().split(counts), weights, strict=True
        ):
            length = mean.norm().clamp(min=1e-12)
            ranges = self.layout.ranges(tokens)
            sentences = Sentences.of(pieces_from(tokens, ranges.first, ranges.last))
            yield VectorEncoding(sentences, mean / length, mine * (weight / weight.sum() / length)[:, None], 1.0)

    def explain(self, a: VectorEncoding, b: VectorEncoding, collection: Tensor | None = None) -> Match:
        """The cosine as a sum over the chunks of each document."""
        return explain(a, b, self.name, None, self.threshold)
