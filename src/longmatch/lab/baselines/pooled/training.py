"""`first` and `mean`, trained: the backbone itself, compared by one vector per document.

`first` is the papers' siamese baseline (S-BERT, MatchBERT), BERT over the first 512 tokens; `mean` reads the whole
document in chunks and averages them, weighted by tokens.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Generic, Literal

import numpy as np
import torch
from torch import Tensor
from transformers import AutoModel

from longmatch.encoders.pretrained import locate
from longmatch.lab.baselines.siamese.matcher import VectorEncoding, explain_vectors
from longmatch.lab.encoders.backbone import Precision, TorchBackbone, TorchNetwork
from longmatch.lab.encoders.checkpoint import open_tokenizer, set_dropout, special_tokens
from longmatch.lab.encoders.flat import DocumentPieces, FlatTokens, mean_pool
from longmatch.lab.encoders.packed.bert import forward_packed, pool_packed, uses_packing
from longmatch.lab.encoders.ragged import offsets_of, weighted_segment_mean
from longmatch.lab.losses import pair_cross_entropy_loss, supervised_contrastive_loss
from longmatch.lab.matchers import TrainedMatcher
from longmatch.lab.training.bi_encoder_recipe import CONTRASTIVE_BUDGET, BiEncoderRecipe, D, PairBatch
from longmatch.lab.training.recipe import token_budget
from longmatch.lab.training.sentence_model import save_sentence_model
from longmatch.lab.training.settings import TrainingSettings, above_zero, at_least, below_one
from longmatch.matching.match import Match
from longmatch.matching.sentences import Sentences
from longmatch.units import Tokens
from longmatch.units.pieces import piece_ends, pieces_from
from longmatch.units.tokens import Ints

SPECIALS = 2  # tokens around each chunk


@dataclass(frozen=True)
class ChunkedLayout:
    """Documents cut into chunks of at most `limit` tokens, without the special ones; `max_tokens` truncates them."""

    limit: int
    specials: tuple[int, int]
    max_tokens: int | None = None

    @staticmethod
    def of(model: Any, specials: tuple[int, int], chunk_tokens: int, max_tokens: int | None = None) -> "ChunkedLayout":
        """Chunks of `chunk_tokens` tokens, special ones included, or fewer if the backbone has fewer positions."""
        return ChunkedLayout(min(chunk_tokens, TorchNetwork(model).positions) - SPECIALS, specials, max_tokens)

    def bounds(self, tokens: Tokens) -> Ints:
        """The first token of each chunk, and the end."""
        read = tokens.truncated(self.max_tokens)
        return np.array([0, *piece_ends(read, 0, len(read), self.limit)])

    def lay_out(self, documents: Sequence[Tokens]) -> DocumentPieces:
        """The chunks of documents as one batch."""
        bounds = [self.bounds(tokens) for tokens in documents]
        return DocumentPieces.of(documents, [(ends[:-1], ends[1:]) for ends in bounds], self.specials)


def encode_pieces(model: Any, text: FlatTokens) -> Tensor:
    """The mean of each piece's token vectors (pieces, width): without padding, or padded by length."""
    if uses_packing(model):
        return pool_packed(forward_packed(model, text), text)
    return text.encode_each(
        lambda ids, mask, _: mean_pool(model(input_ids=ids, attention_mask=mask.long()).last_hidden_state, mask)
    )


class ChunkMeanMatcher(TrainedMatcher[VectorEncoding]):
    """The cosine of two documents' means, explained by each chunk's share of them."""

    name = "mean"
    Model = AutoModel

    def __init__(self, model: Any, tokenizer: Any, precision: Precision | None = None) -> None:
        super().__init__(model, tokenizer, precision)
        specials = special_tokens(tokenizer, self.name)
        self.layout = ChunkedLayout.of(model, specials, int(tokenizer.model_max_length))

    @property
    def width(self) -> int:
        """The backbone's hidden size."""
        return int(self.model.config.hidden_size)

    @torch.no_grad()
    def encode_tokens(self, documents: Sequence[Tokens]) -> Iterator[VectorEncoding]:
        """Encode documents, each alone."""
        batch = self.layout.lay_out(documents).to(self.device)
        chunks = encode_pieces(self.model, batch.text)
        counts = batch.counts.tolist()
        weights = batch.lengths.float().split(counts)
        means = weighted_segment_mean(chunks.float(), batch.lengths, offsets_of(batch.counts)).cpu()
        parts = chunks.float().cpu().split(counts)
        for tokens, mean, mine, weight in zip(documents, means, parts, weights, strict=True):
            length = mean.norm().clamp(min=1e-12)
            bounds = self.layout.bounds(tokens)
            sentences = Sentences.of(pieces_from(tokens, bounds[:-1], bounds[1:]))
            yield VectorEncoding(sentences, mean / length, mine * (weight / weight.sum() / length)[:, None], 1.0)

    def explain(self, a: VectorEncoding, b: VectorEncoding, collection: Tensor | None = None) -> Match:
        """The cosine as a sum over the chunks of each document."""
        return explain_vectors(a, b, self.name, None, self.threshold)


@dataclass(frozen=True)
class PooledSettings:
    """The settings of both models."""

    backbone: str | None = None  # a folder or hub id; the packaged MiniLM by default
    dropout: float | None = None  # of the backbone; by default as its config says
    loss: Literal["cross_entropy", "contrastive"] = "cross_entropy"  # contrastive: CoLDE's loss over documents
    scale: float = 10.0  # cross-entropy: slope of the probability over the cosine
    middle: float = 0.5  # cross-entropy: the cosine with probability 0.5
    loss_temperature: float = 0.05  # of the contrastive loss
    validation_pairs: int | None = None  # sampled once; all by default

    def __post_init__(self) -> None:
        at_least(self, opening=3, chunk_tokens=8, validation_pairs=2)
        above_zero(self, "scale", "loss_temperature")
        below_one(self, "dropout")

    @property
    def contrastive(self) -> bool:
        """Whether the loss contrasts all documents of a batch."""
        return self.loss == "contrastive"


@dataclass(frozen=True)
class FirstTokensSettings(PooledSettings):
    """The settings of the siamese encoder.

    MatchBERT (SMITH section 3.2.1): the cosine of the two documents' vectors, with cross-entropy; S-BERT (CoLDE section
    4.1.3) is the same over the first 512 tokens. A vector is the mean of the token vectors. `loss=contrastive` is
    CoLDE's loss over documents, that is, CoLDE on the opening alone.
    """

    opening: int = 512  # tokens read of a document with start and end tokens, if the backbone allows


@dataclass(frozen=True)
class ChunkMeanSettings(PooledSettings):
    """The settings of the mean of chunks: CoLDE's loss over whole documents, without its network."""

    loss: Literal["cross_entropy", "contrastive"] = "contrastive"
    chunk_tokens: int = 512  # with start and end tokens, if the backbone allows


@dataclass(frozen=True)
class OpeningLayout:
    """The first tokens of each document, with start and end tokens."""

    limit: int  # tokens, without special ones
    specials: tuple[int, int]

    def lay_out(self, documents: Sequence[Tokens]) -> FlatTokens:
        """One piece per document."""
        return FlatTokens.of([tokens.ids[: self.limit] for tokens in documents], self.specials)


class PooledRecipe(BiEncoderRecipe[D], Generic[D]):
    """Fine-tunes the backbone itself; a subclass says what is read of a document."""

    options: PooledSettings
    layout: Any  # of pieces of at most `limit` tokens, without special ones

    @classmethod
    def new_model(cls, settings: TrainingSettings, options: PooledSettings) -> tuple[Any, Any]:
        """The pretrained backbone."""
        backbone = TorchBackbone.load(options.backbone, device="cpu", precision="float32")
        set_dropout(backbone.model, options.dropout)
        return backbone.model, open_tokenizer(locate(options.backbone))

    def save(self, folder: Path) -> None:
        """Write a sentence-transformers folder with the training's token limit."""
        save_sentence_model(folder, self.model, self.tokenizer, self.layout.limit + 2)

    @property
    def tokens_per_pass(self) -> int:
        """As many as fit on the device."""
        return token_budget(self.settings, self.model, self.model.device)

    def _loss(self, vectors: Tensor, batch: PairBatch[D]) -> Tensor:
        if self.options.contrastive:
            return supervised_contrastive_loss(vectors, batch.targets, self.options.loss_temperature)
        source, target, label = batch.targets
        return pair_cross_entropy_loss(vectors[source], vectors[target], label, self.options.scale, self.options.middle)


class FirstTokensRecipe(PooledRecipe[FlatTokens]):
    """Reads the opening of a document."""

    name: ClassVar[str] = "first"
    Settings: ClassVar[type] = FirstTokensSettings
    defaults: ClassVar[Mapping[str, Any]] = {"documents": 64, "epochs": 10, "patience": 3}
    options: FirstTokensSettings
    layout: OpeningLayout

    def _layout(self) -> OpeningLayout:
        specials = special_tokens(self.tokenizer, locate(self.options.backbone))
        positions = TorchNetwork(self.model).positions  # without the checkpoint's own length limit
        limits = (self.options.opening - 2, positions - 2, self.settings.max_tokens)
        return OpeningLayout(min(limit for limit in limits if limit is not None), specials)

    def _vectors(self, documents: FlatTokens) -> Tensor:
        return encode_pieces(self.model, documents)


class ChunkMeanRecipe(PooledRecipe[DocumentPieces]):
    """Reads a document whole, in chunks; its vector is their mean, weighted by tokens."""

    name: ClassVar[str] = "mean"
    Settings: ClassVar[type] = ChunkMeanSettings
    defaults: ClassVar[Mapping[str, Any]] = CONTRASTIVE_BUDGET
    options: ChunkMeanSettings
    layout: ChunkedLayout

    def _layout(self) -> ChunkedLayout:
        specials = special_tokens(self.tokenizer, locate(self.options.backbone))
        return ChunkedLayout.of(self.model, specials, self.options.chunk_tokens, self.settings.max_tokens)

    def _vectors(self, documents: DocumentPieces) -> Tensor:
        chunks = encode_pieces(self.model, documents.text)
        return weighted_segment_mean(chunks.float(), documents.lengths, offsets_of(documents.counts))
