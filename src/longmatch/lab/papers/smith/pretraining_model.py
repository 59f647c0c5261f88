"""What pre-training adds to SMITH's encoder (section 4.2): masks, predictions of what they cover, and their losses."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint
from transformers import PreTrainedModel

from longmatch.lab.encoders.flat import DocumentPieces
from longmatch.lab.encoders.packed.bert import forward_packed, uses_packing
from longmatch.lab.encoders.ragged import offsets_of, to_device
from longmatch.lab.papers.smith.encoder import SmithConfig, SmithModel
from longmatch.lab.training.masked_words import IGNORED, WordHead, mask_pieces, masked_word_loss

MAX_WORDS = 8_192  # masked words whose logits over the whole vocabulary are held at a time


def masked_block_loss(predicted: Tensor, original: Tensor) -> Tensor:
    """Cross-entropy of identifying each masked block (SMITH equations 4 to 6), averaged; 0 if none is masked.

        p(h_i | s_j) = exp(s_j h_i) / sum over r of exp(s_j h_r)        L = -1/B * sum over j of log p(h_j | s_j)

    Row j of `predicted` is the document level's output at a masked block, row j of `original` the sentence level's
    vector of that block: (masked blocks, width) both. The other rows of `original` are the negatives, so a batch should
    hold the masked blocks of many documents. No parameter depends on their number.

    >>> vectors = torch.eye(2)
    >>> round(masked_block_loss(vectors, vectors).item(), 4)  # ln(1 + 1/e)
    0.3133
    """
    if not len(predicted):
        return (predicted.sum() + original.sum()) * 0.0
    scores = _scores(predicted, original)
    return nn.functional.cross_entropy(scores, torch.arange(len(scores), device=scores.device))


def identified_blocks(predicted: Tensor, original: Tensor) -> int:
    """How many masked blocks have the highest probability with their own prediction.

    >>> identified_blocks(torch.eye(3), torch.eye(3)[[0, 2, 1]])
    1
    """
    if not len(predicted):
        return 0
    return int((_scores(predicted, original).argmax(1) == torch.arange(len(predicted), device=predicted.device)).sum())


def _scores(predicted: Tensor, original: Tensor) -> Tensor:
    """s_j h_i: (masked, candidates). In float32 under autocast too: bfloat16 ties close scores."""
    with torch.autocast(predicted.device.type, enabled=False):
        return predicted.float() @ original.float().T


@dataclass(frozen=True)
class MaskedBatch:
    """Documents with masked words; the blocks in `is_masked` are to be masked for the document level."""

    blocks: DocumentPieces
    labels: Tensor  # (tokens,) the original word where it is masked, IGNORED elsewhere; on the CPU like `is_masked`
    is_masked: Tensor  # (blocks,)

    @property
    def tokens(self) -> int:
        """Number of tokens."""
        return self.blocks.tokens

    @property
    def masked_words(self) -> int:
        """Number of masked words."""
        return int((self.labels != IGNORED).sum())

    @property
    def word_labels(self) -> Tensor:
        """The original words, in text order: (masked words,)."""
        return to_device(self.labels[self.labels != IGNORED], self.blocks.device)

    def to(self, device: torch.device) -> "MaskedBatch":
        """The batch with its text on another device."""
        return replace(self, blocks=self.blocks.to(device))

    def groups(self, budget: int) -> Iterator["MaskedBatch"]:
        """The batch in runs of documents of at most `budget` tokens."""
        blocks = offsets_of(self.blocks.counts)
        tokens = offsets_of(self.blocks.text.lengths)[blocks].tolist()
        for first, last in self.blocks.runs(budget):
            yield MaskedBatch(
                self.blocks.between(first, last),
                self.labels[tokens[first] : tokens[last]],
                self.is_masked[int(blocks[first]) : int(blocks[last])],
            )


@dataclass(frozen=True)
class BlockMasking:
    """Section 4.2.1: masks a share of the words, as BERT does, and a number of blocks per document."""

    mask_token: int
    vocabulary: int  # size
    words: float = 0.15  # share
    blocks: int = 2  # per document

    def mask(self, batch: DocumentPieces, random: np.random.Generator) -> MaskedBatch:
        """The batch with masks. At least one block of each document stays unmasked."""
        text, labels = mask_pieces(batch.text, self.mask_token, self.vocabulary, self.words, random)
        is_masked = torch.zeros(len(text), dtype=torch.bool)
        for start, count in zip(offsets_of(batch.counts).tolist(), batch.counts.tolist(), strict=False):
            chosen = random.permutation(count)[: min(self.blocks, count - 1)]
            is_masked[torch.from_numpy(start + chosen)] = True
        return MaskedBatch(replace(batch, text=text), labels, is_masked)


@dataclass(frozen=True)
class Predictions:
    """The vectors that the losses compare, in the batch's order."""

    predicted: Tensor  # (masked blocks, width) by the document level
    original: Tensor  # (masked blocks, width) by the sentence level
    words: Tensor  # (masked words, width) token vectors


class SmithForPretraining(PreTrainedModel):  # type: ignore[misc]
    """The encoder with a head for masked words and a vector for masked blocks; only the encoder is kept.

    With `block_head` the document level's predictions go through a head as BERT's word predictions do, so that its
    outputs need not resemble the sentence level's vectors themselves.
    """

    config_class = SmithConfig
    base_model_prefix = "smith"

    def __init__(self, smith: SmithModel, block_head: bool = False) -> None:
        super().__init__(smith.config)
        self.smith = smith
        inner: Any = smith.sentence_level.config
        embeddings = smith.sentence_level.get_input_embeddings().weight
        self.words = WordHead(inner.hidden_size, embeddings, getattr(inner, "hidden_act", "gelu"))
        layers = (nn.Linear(smith.width, smith.width), nn.GELU(), nn.LayerNorm(smith.width)) if block_head else ()
        self.block_head = nn.Sequential(*layers)
        self.hidden_block = nn.Parameter(nn.functional.normalize(torch.randn(smith.width), dim=0))

    def predict(self, batch: MaskedBatch) -> Predictions:
        """One pass serves both tasks, so the original blocks have masked words too."""
        if uses_packing(self.smith.sentence_level):
            states = forward_packed(self.smith.sentence_level, batch.blocks.text)
            blocks = self.smith.packed_block_vectors(states, batch.blocks.text)
            masked = to_device((batch.labels != IGNORED).nonzero().flatten(), batch.blocks.device)
            words = states.index_select(0, masked).float()
        else:
            blocks, words = self._encode_padded(batch)
        rows = to_device(batch.is_masked.nonzero().flatten(), batch.blocks.device)
        original = predicted = blocks.index_select(0, rows)
        if len(original):
            predicted = self.predict_blocks(blocks, rows, batch.blocks.position, batch.blocks.counts)
        return Predictions(predicted, original, words)

    def predict_blocks(self, blocks: Tensor, masked: Tensor, position: Tensor, counts: Tensor) -> Tensor:
        """Section 4.2.2: the document level's output at masked blocks, each replaced by one learned vector.

        `masked` are the rows of `blocks` to mask: (masked blocks,).
        """
        visible = blocks.index_copy(0, masked, self.hidden_block.to(blocks.dtype).expand(len(masked), -1))
        predicted = self.smith.contextualise(visible, position, counts).index_select(0, masked)
        with torch.autocast(predicted.device.type, enabled=False):
            headed: Tensor = self.block_head(predicted)
            return headed

    def word_logits(self, hidden: Tensor) -> Tensor:
        """Logits over the vocabulary for token vectors: (tokens, width) -> (tokens, vocabulary)."""
        logits: Tensor = self.words(hidden, self.smith.sentence_level.get_input_embeddings().weight)
        return logits

    def word_loss(self, hidden: Tensor, labels: Tensor) -> Tensor:
        """The masked-word loss; more than MAX_WORDS words in parts, recomputed in the backward pass."""
        if len(labels) <= MAX_WORDS:
            return masked_word_loss(self.word_logits(hidden), labels)
        sums = [
            checkpoint(self._summed_loss, h, w, use_reentrant=False)
            for h, w in zip(hidden.split(MAX_WORDS), labels.split(MAX_WORDS), strict=True)
        ]
        return torch.stack(sums).sum() / len(labels)

    def _summed_loss(self, hidden: Tensor, labels: Tensor) -> Tensor:
        return masked_word_loss(self.word_logits(hidden), labels) * len(labels)

    def _encode_padded(self, batch: MaskedBatch) -> tuple[Tensor, Tensor]:
        """The vectors of all blocks, and of the masked words, with blocks of similar length padded together."""
        block_order, blocks, word_order, words = [], [], [], []
        text, labels = batch.blocks.text, to_device(batch.labels, batch.blocks.device)
        for rows, places, mask in text.by_length():
            states = self.smith.encode_tokens(text.ids[places] * mask, mask.long())
            is_masked = mask & (labels[places] != IGNORED)
            block_order.append(rows)
            blocks.append(self.smith.block_vectors(states, mask))
            word_order.append(places[is_masked])
            words.append(states[is_masked])
        vectors = torch.cat(blocks)[to_device(torch.cat(block_order).argsort(), batch.blocks.device)]
        return vectors, torch.cat(words).float()[torch.cat(word_order).argsort()]
