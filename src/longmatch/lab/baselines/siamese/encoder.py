"""What the siamese networks share: flat batches of documents, the configuration, one vector per document."""

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
import torch
from torch import Tensor, nn
from transformers import PretrainedConfig, PreTrainedModel

from longmatch.lab.encoders.flat import groups_within
from longmatch.lab.encoders.ragged import offsets_of, segment_ids
from longmatch.units.pieces import piece_ends
from longmatch.units.tokens import Ints, Tokens


class VectorConfig(PretrainedConfig):  # type: ignore[misc]
    """Base configuration of the models with one vector per document.

    A pair's probability is sigmoid(scale * (cosine - middle)), with these initial values of both weights.
    """

    max_tokens: int | None = None  # read of a document; None reads all of it
    sentence_tokens: int = 128  # longer sentences are split: text without full stops is no endless sentence
    scale: float = 10.0
    middle: float = 0.5
    threshold: float | None = None  # the cosine from which a pair counts as a match, chosen on validation pairs


@dataclass(frozen=True)
class TextBatch:
    """The concatenated tokens of several documents, without padding or special tokens.

    The lengths stay on the CPU: they decide what is computed together.
    """

    ids: Tensor  # (tokens,)
    word_starts: Tensor  # (tokens,) whether a word starts here
    sentences: Tensor  # (sentences,) tokens in each
    paragraphs: Tensor  # (paragraphs,) sentences in each
    documents: Tensor  # (documents, 2) sentences and paragraphs in each

    def __len__(self) -> int:
        return len(self.documents)

    @property
    def tokens(self) -> int:
        """The number of tokens."""
        return len(self.ids)

    @property
    def device(self) -> torch.device:
        """The device of the tokens."""
        return self.ids.device

    def to(self, device: torch.device) -> "TextBatch":
        """A copy on another device."""
        return replace(self, ids=self.ids.to(device), word_starts=self.word_starts.to(device))

    @cached_property
    def lengths(self) -> Tensor:
        """Tokens in each document, on the CPU: (documents,)."""
        return offsets_of(self.sentences)[offsets_of(self.documents[:, 0])].diff()

    def offsets(self, lengths: Tensor) -> Tensor:
        """The offsets of runs of these lengths, on the tokens' device."""
        return offsets_of(lengths).to(self.device)

    @cached_property
    def document_of_sentence(self) -> Tensor:
        """The document of each sentence: (sentences,)."""
        return segment_ids(self.offsets(self.documents[:, 0]))

    def groups(self, budget: int) -> Iterator["TextBatch"]:
        """Runs of whole documents of at most `budget` tokens; a longer document is a group by itself."""
        tokens = offsets_of(self.lengths).tolist()
        sentences, paragraphs = (offsets_of(self.documents[:, side]).tolist() for side in (0, 1))
        for first, last in groups_within(self.lengths, budget):
            part = slice(tokens[first], tokens[last])
            yield TextBatch(
                ids=self.ids[part],
                word_starts=self.word_starts[part],
                sentences=self.sentences[sentences[first] : sentences[last]],
                paragraphs=self.paragraphs[paragraphs[first] : paragraphs[last]],
                documents=self.documents[first:last],
            )


@dataclass(frozen=True)
class SentenceLayout:
    """How much of a document is read, and from which length a sentence is split."""

    max_tokens: int | None = None
    sentence_tokens: int = 128

    def bounds(self, tokens: Tokens) -> Ints:
        """The offsets of the sentences; long ones are split at word boundaries: (sentences + 1,)."""
        offsets, limit = tokens.sentence_offsets, self.sentence_tokens
        long = np.flatnonzero(np.diff(offsets) > limit).tolist()
        cuts = [piece_ends(tokens, int(offsets[s]), int(offsets[s + 1]), limit)[:-1] for s in long]
        return np.sort(np.concatenate([offsets, *cuts])).astype(np.int64)

    def lay_out(self, documents: Sequence[Tokens]) -> TextBatch:
        """Documents as one flat batch."""
        read = [tokens.truncated(self.max_tokens) for tokens in documents]
        bounds = [self.bounds(tokens) for tokens in read]
        paragraphs = []  # sentences in each paragraph
        for tokens, ends in zip(read, bounds, strict=True):
            sentence = np.searchsorted(tokens.sentence_offsets, ends[:-1], side="right") - 1
            starts = np.flatnonzero(np.diff(tokens.sentence_paragraph[sentence], prepend=-1))
            paragraphs.append(np.diff(np.append(starts, len(sentence))).astype(np.int64))
        counts = [(len(ends) - 1, len(inside)) for ends, inside in zip(bounds, paragraphs, strict=True)]
        return TextBatch(
            ids=torch.from_numpy(np.concatenate([tokens.ids for tokens in read])),
            word_starts=torch.from_numpy(np.concatenate([tokens.word_starts for tokens in read])),
            sentences=torch.from_numpy(np.concatenate([np.diff(ends) for ends in bounds])),
            paragraphs=torch.from_numpy(np.concatenate(paragraphs)),
            documents=torch.tensor(counts),
        )


@dataclass(frozen=True)
class VectorOutput:
    """The vectors of documents and, if requested, the contributions of their sentences (`parts`).

    The parts of a document's sentences add up to its vector, so the cosine of two documents is a sum over the sentences
    of either. Only DSSM is not additive: there a part is the change of the vector when the sentence is removed.
    """

    vectors: Tensor  # (documents, width), not normalised
    parts: Tensor | None = None  # (sentences, width)
    sentences: Tensor | None = None  # (sentences,) attention weights; sum to 1 per document
    words: Tensor | None = None  # (tokens,) attention weights; sum to 1 per sentence


class VectorModel(PreTrainedModel):  # type: ignore[misc]
    """One vector per document; the score of two documents is the cosine of theirs.

    The probability of a match is sigmoid(scale * (cosine - middle)) with learned scale and middle (SMITH's fine-tuning,
    section 4.3, whose cosine alone cannot express every probability).
    """

    config_class: type[VectorConfig] = VectorConfig
    base_model_prefix = "baseline"
    full_precision: ClassVar[bool] = True  # float32 even under autocast: small, mostly recurrent

    def __init__(self, config: VectorConfig) -> None:
        super().__init__(config)
        self.scale = nn.Parameter(torch.tensor([float(config.scale)]))
        self.middle = nn.Parameter(torch.tensor([float(config.middle)]))

    @classmethod
    @abstractmethod
    def new(cls, backbone: str | None, tokenizer: Any, **settings: Any) -> Self:
        """An untrained model for a backbone's tokenizer, with those of its weights that the model can use."""

    @property
    def width(self) -> int:
        """The size of a document vector."""
        return int(self.config.vector_width)

    @abstractmethod
    def read(self, texts: TextBatch, with_parts: bool) -> VectorOutput:
        """The vectors of documents; with `with_parts`, also all that an explanation needs."""

    def forward(self, texts: TextBatch, with_parts: bool = False) -> VectorOutput:
        """Encode documents; the result does not depend on which documents are batched together."""
        kind = texts.device.type
        allowed = torch.is_autocast_enabled(kind) and not self.full_precision
        with torch.autocast(kind, torch.get_autocast_dtype(kind), enabled=allowed, cache_enabled=False):
            return self.read(texts, with_parts)

    @property
    def layout(self) -> SentenceLayout:
        """How documents are laid out for the model."""
        return SentenceLayout(self.config.max_tokens, self.config.sentence_tokens)

    def probability(self, cosine: Tensor) -> Tensor:
        """The probability that two documents with this cosine match."""
        return torch.sigmoid(self.scale * (cosine - self.middle))

    def _init_weights(self, module: nn.Module) -> None:
        """Keep torch's initial values: those for deep transformers are too small for such networks."""
