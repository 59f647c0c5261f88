"""SMITH's pre-training (section 4.2): from bare documents, hidden words are told and hidden blocks picked out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
import torch
from torch import Tensor
from transformers import PreTrainedModel

from longmatch.encoders.pretrained import DEFAULT_NAME
from longmatch.encoders.tokenizer import special_tokens
from longmatch.errors import LongmatchError
from longmatch.lab.papers.smith.batch import MaskedBatch, Masking
from longmatch.lab.papers.smith.loss import masked_block_loss
from longmatch.lab.papers.smith.pretraining_heads import WORDS, SmithForPretraining
from longmatch.lab.papers.smith.reading import Guesses, layout, read_masked
from longmatch.lab.papers.smith.shape import SmithShape
from longmatch.lab.training.data import TrainingData
from longmatch.lab.training.gradient_cache import cached_backward
from longmatch.lab.training.limits import at_least
from longmatch.lab.training.recipe import Recipe, token_budget
from longmatch.lab.training.samplers import EpochSampler, step_rng
from longmatch.lab.training.settings import TrainingSettings
from longmatch.units.tokens import Ints

COUNTED = 2_000  # documents whose words are counted before training begins


@dataclass(frozen=True)
class PretrainSettings(SmithShape):
    """What is hidden, beside what the model is made of.

    SMITH-WP+SP is the default; `masked_blocks=0` is SMITH-WP, in which the document level learns nothing yet.
    """

    masked_words: float = 0.15  # share of the words
    masked_blocks: int = 2  # of each document, one at least left
    anywhere: bool = False  # true: of a document longer than is read, blocks from anywhere, drawn anew each step
    validation_documents: int = 512

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 <= self.masked_words < 1:
            raise LongmatchError(
                f"The setting masked_words is {self.masked_words}; it must be 0 or more and less than 1."
            )
        at_least(self, masked_blocks=0, validation_documents=1)
        if not self.masked_words and not self.masked_blocks:
            raise LongmatchError("With masked_words=0 and masked_blocks=0 nothing is left to learn; drop one of them.")


class SmithPretrainRecipe(Recipe[MaskedBatch]):
    """What is hidden at a step depends on the seed and the step alone, and is drawn anew at each.

    The hidden blocks of the whole batch are the candidates, also where the device reads it in several pieces. The
    paper's learning rate, 5e-5, is for 68 epochs over 700,000 documents; ours is ten times that.
    """

    name: ClassVar[str] = "smith-pretrain"
    Settings: ClassVar[type] = PretrainSettings
    defaults: ClassVar[Mapping[str, Any]] = {"documents": 32, "epochs": 10, "learning_rate": 5e-4}
    model: SmithForPretraining

    def __init__(
        self,
        data: TrainingData,
        model: SmithForPretraining,
        tokenizer: Any,
        settings: TrainingSettings,
        options: PretrainSettings,
    ) -> None:
        self.data, self.model, self.tokenizer, self.settings, self.options = data, model, tokenizer, settings, options
        if tokenizer.mask_token_id is None:
            raise LongmatchError("The tokenizer has no token for a hidden word; name that of a BERT-like encoder.")
        self.layout = layout(model.smith, special_tokens(tokenizer, self.name))
        self.masking = Masking(tokenizer.mask_token_id, len(tokenizer), options.masked_words, options.masked_blocks)
        self._documents = data.documents("train")
        self._epochs = EpochSampler(len(self._documents), settings.documents, settings.seed)
        model.words.init_frequencies(self._word_counts())

    @classmethod
    def make(cls, data: Sequence[Path], cache: Path, settings: TrainingSettings, options: PretrainSettings) -> Self:
        """A new model; labels are not looked at."""
        model, tokenizer = options.new(settings.max_tokens)
        found = TrainingData.open(data, tokenizer.backend_tokenizer, cache, seed=settings.seed)
        return cls(found, SmithForPretraining(model), tokenizer, settings, options)

    @property
    def steps_per_epoch(self) -> int:
        """Until every document was read once."""
        return self._epochs.steps_per_epoch

    def draw(self, step: int) -> MaskedBatch:
        """Documents, and what is hidden of them."""
        return self._masked(
            self._documents[self._epochs.rows(step)], step_rng(self.settings.seed, step), self.options.anywhere
        )

    def backward(self, model: PreTrainedModel, batch: MaskedBatch) -> dict[str, Tensor]:
        """One pass where the device holds the whole batch; else, by gradient caching, as many as it takes."""
        pieces = list(batch.groups(self._budget))
        told: dict[str, Tensor] = {}

        def loss(rows: Tensor) -> Tensor:
            found = self._losses(_unpacked(rows, pieces), batch)
            told.update({name: value.detach() for name, value in found.items()})
            return found["loss"]

        cached_backward(lambda piece: _packed(read_masked(self.model, piece)), pieces, loss)
        return told

    def validate(self, model: PreTrainedModel) -> dict[str, float]:
        """Both losses on held-out documents, what is hidden being the same each time; and how much is guessed right.

        Chance is what picking at random gets right of the blocks.
        """
        totals: dict[str, float] = {}
        for batch in self._held_out:
            for name, value in self._measured(batch.to(self.model.device)).items():
                totals[name] = totals.get(name, 0.0) + value
        words, blocks = max(1.0, totals["words"]), max(1.0, totals["blocks"])
        measures = {"loss": 0.0}
        if self.options.masked_words:
            measures |= {
                "masked_word_loss": totals["word_loss"] / words,
                "word_accuracy": totals["words_right"] / words,
            }
        if self.options.masked_blocks:
            measures |= {
                "masked_block_loss": totals["block_loss"] / blocks,
                "block_accuracy": totals["blocks_right"] / blocks,
                "block_chance": totals["blocks_by_chance"] / blocks,
            }
        measures["loss"] = measures.get("masked_word_loss", 0.0) + measures.get("masked_block_loss", 0.0)
        return measures

    def save(self, folder: Path) -> None:
        """The encoder alone, and the tokenizer."""
        self.model.smith.save_pretrained(folder)
        self.tokenizer.save_pretrained(folder)

    @property
    def facts(self) -> Mapping[str, Any]:
        """For the model card."""
        start = (
            {"backbone": self.options.backbone}
            if self.options.backbone
            else {"vocabulary": self.options.tokenizer or DEFAULT_NAME}
        )
        return {**start, "weights": self.model.smith.num_parameters(), **self.data.facts}

    @property
    def _budget(self) -> int:
        return token_budget(self.settings, self.model.smith.sentence_level, self.model.device)

    def _masked(self, numbers: Ints, random: np.random.Generator, anywhere: bool = False) -> MaskedBatch:
        documents = [self.data.shelf[number] for number in numbers.tolist()]
        return self.masking.of(self.layout.lay_out(documents, random if anywhere else None), random)

    @cached_property
    def _held_out(self) -> list[MaskedBatch]:
        """Batches of as many documents as in training, whatever the seed, so that runs can be compared."""
        numbers = step_rng(0, 0).permutation(self.data.documents("validation"))[: self.options.validation_documents]
        parts = np.array_split(numbers, -(-len(numbers) // self.settings.documents))
        found = [self._masked(part, step_rng(0, step)) for step, part in enumerate(parts)]
        if self.options.masked_blocks and not any(bool(batch.masked.any()) for batch in found):
            raise LongmatchError(
                "No document that is kept for validation is longer than one block. Add longer documents, or set "
                "masked_blocks=0 to learn from words alone."
            )
        return found

    def _losses(self, found: Guesses, batch: MaskedBatch) -> dict[str, Tensor]:
        """Equation 7."""
        words = self.model.word_loss(found.words, batch.hidden_words)
        with torch.autocast(words.device.type, enabled=False):
            blocks = masked_block_loss(found.predicted, found.original)
        return {"loss": words + blocks, "masked_word_loss": words, "masked_block_loss": blocks}

    @torch.no_grad()
    def _measured(self, batch: MaskedBatch) -> dict[str, float]:
        """Sums over a batch's hidden words and blocks."""
        pieces = [_packed(read_masked(self.model, piece)) for piece in batch.groups(self._budget)]
        found = _unpacked(torch.cat(pieces), list(batch.groups(self._budget)))
        losses, labels = self._losses(found, batch), batch.hidden_words
        pairs = zip(found.words.split(WORDS), labels.split(WORDS), strict=True)
        blocks, picked = len(found.predicted), (found.predicted @ found.original.T).float()
        right = picked.argmax(1) == torch.arange(blocks, device=picked.device) if blocks else picked.new_zeros(0)
        return {
            "words": float(len(labels)),
            "word_loss": float(losses["masked_word_loss"]) * len(labels),
            "words_right": float(sum(int((self.model.say_words(h).argmax(1) == w).sum()) for h, w in pairs)),
            "blocks": float(blocks),
            "block_loss": float(losses["masked_block_loss"]) * blocks,
            "blocks_right": float(right.sum()),
            "blocks_by_chance": 1.0 if blocks else 0.0,
        }

    def _word_counts(self) -> Tensor:
        """How often each word of the vocabulary stands in some of the training documents."""
        some = step_rng(0, 0).permutation(self._documents)[:COUNTED].tolist()
        most = self.layout.limit * int(self.model.config.max_blocks)
        ids = np.concatenate([self.data.shelf.piece(number, 0, most) for number in some])
        return torch.from_numpy(np.bincount(ids, minlength=len(self.model.words.bias)).astype(np.float32))


def _packed(found: Guesses) -> Tensor:
    """All vectors of a piece as rows, for gradient caching."""
    return torch.cat([found.predicted, found.original, found.words])


def _unpacked(rows: Tensor, pieces: Sequence[MaskedBatch]) -> Guesses:
    """The vectors of a whole batch from the rows of its pieces."""
    counts = [count for piece in pieces for count in (int(piece.masked.sum()),) * 2 + (piece.hidden,)]
    parts = rows.split(counts)
    return Guesses(*(torch.cat(parts[kind::3]) for kind in range(3)))
