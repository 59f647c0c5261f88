"""Batches of documents: flat tokens, with the lengths of sentences, paragraphs and documents."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from longmatch.lab.encoders.flat import groups_within
from longmatch.lab.encoders.ragged import offsets_of, segment_ids
from longmatch.units.chunking import piece_ends
from longmatch.units.tokens import Ints, Tokens


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

    def read(self, tokens: Tokens) -> Tokens:
        """The part of a document that is read: all of it, or its first `max_tokens` tokens."""
        return tokens.truncated(self.max_tokens)

    def bounds(self, tokens: Tokens) -> Ints:
        """The offsets of the sentences; long ones are split at word boundaries: (sentences + 1,)."""
        offsets, limit = tokens.sentence_offsets, self.sentence_tokens
        long = np.flatnonzero(np.diff(offsets) > limit).tolist()
        cuts = [piece_ends(tokens, int(offsets[s]), int(offsets[s + 1]), limit)[:-1] for s in long]
        return np.sort(np.concatenate([offsets, *cuts])).astype(np.int64)

    def lay_out(self, documents: Sequence[Tokens]) -> TextBatch:
        """Documents as one flat batch."""
        read = [self.read(tokens) for tokens in documents]
        bounds = [self.bounds(tokens) for tokens in read]
        paragraphs = [_paragraphs(tokens, ends) for tokens, ends in zip(read, bounds, strict=True)]
        counts = [(len(ends) - 1, len(inside)) for ends, inside in zip(bounds, paragraphs, strict=True)]
        return TextBatch(
            ids=torch.from_numpy(np.concatenate([tokens.ids for tokens in read])),
            word_starts=torch.from_numpy(np.concatenate([tokens.word_starts for tokens in read])),
            sentences=torch.from_numpy(np.concatenate([np.diff(ends) for ends in bounds])),
            paragraphs=torch.from_numpy(np.concatenate(paragraphs)),
            documents=torch.tensor(counts),
        )


def _paragraphs(tokens: Tokens, bounds: Ints) -> Ints:
    """The number of sentences in each paragraph: (paragraphs,)."""
    sentence = np.searchsorted(tokens.sentence_offsets, bounds[:-1], side="right") - 1
    starts = np.flatnonzero(np.diff(tokens.sentence_paragraph[sentence], prepend=-1))
    return np.diff(np.append(starts, len(sentence))).astype(np.int64)
