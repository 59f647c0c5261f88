"""SMITH's pre-training (section 4.2, equation 7): masked words and masked blocks of unlabelled documents."""

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
from longmatch.errors import LongmatchError
from longmatch.lab.encoders.checkpoint import save_checkpoint, special_tokens
from longmatch.lab.papers.smith.pretraining_model import (
    MAX_WORDS,
    BlockMasking,
    MaskedBatch,
    Predictions,
    SmithForPretraining,
    identified_blocks,
    masked_block_loss,
)
from longmatch.lab.papers.smith.training import SmithModelSettings
from longmatch.lab.training.bi_encoder_recipe import cached_backward
from longmatch.lab.training.data.training_data import TrainingData
from longmatch.lab.training.recipe import EpochSampler, Recipe, step_rng, token_budget
from longmatch.lab.training.settings import TrainingSettings, at_least, below_one
from longmatch.units.tokens import Ints

COUNTED = 2_000  # documents whose words are counted before training begins


@dataclass(frozen=True)
class PretrainSettings(SmithModelSettings):
    """What is masked, in addition to the model's settings.

    SMITH-WP+SP is the default; `masked_blocks=0` is SMITH-WP, which leaves the document level untrained.
    """

    masked_words: float = 0.15  # share of the words
    masked_blocks: int = 2  # per document; at least one stays unmasked
    anywhere: bool = False  # true: blocks from a random position of longer documents, another each step
    validation_documents: int = 512
    word_weight: float = 1.0  # of the masked-word loss; the paper adds both losses as they are
    block_weight: float = 1.0  # of the masked-block loss
    block_head: bool = False  # true: a dense layer between the document level and equation 4

    def __post_init__(self) -> None:
        super().__post_init__()
        below_one(self, "masked_words")
        at_least(self, masked_blocks=0, validation_documents=1, word_weight=0, block_weight=0)
        if not self.masked_words and not self.masked_blocks:
            raise LongmatchError("With masked_words=0 and masked_blocks=0 nothing is left to learn; drop one of them.")


class SmithPretrainRecipe(Recipe[MaskedBatch]):
    """The masks of a step are drawn from the seed and the step number (dynamic masking, section 4.2.1).

    All masked blocks of the batch are candidates, even if the device encodes it in several groups. The paper's learning
    rate, 5e-5, is for 68 epochs over 700,000 documents; ours is ten times as high.
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
            raise LongmatchError("The tokenizer has no mask token; name that of a BERT-like encoder.")
        self.layout = model.smith.layout(special_tokens(tokenizer, self.name))
        self.masking = BlockMasking(
            tokenizer.mask_token_id, len(tokenizer), options.masked_words, options.masked_blocks
        )
        self._documents = data.documents("train")
        self._epochs = EpochSampler(len(self._documents), settings.documents, settings.seed)
        model.words.init_frequencies(self._word_counts())

    @classmethod
    def make(cls, data: Sequence[Path], cache: Path, settings: TrainingSettings, options: PretrainSettings) -> Self:
        """A new model; labels are not used."""
        model, tokenizer = options.new_model(settings.max_tokens)
        documents = TrainingData.open(data, tokenizer.backend_tokenizer, cache, seed=settings.seed)
        return cls(documents, SmithForPretraining(model, options.block_head), tokenizer, settings, options)

    @property
    def steps_per_epoch(self) -> int:
        """Until every document has been drawn once."""
        return self._epochs.steps_per_epoch

    def draw(self, step: int) -> MaskedBatch:
        """The documents of a step, masked."""
        return self._masked(
            self._documents[self._epochs.rows(step)], step_rng(self.settings.seed, step), self.options.anywhere
        )

    def backward(self, model: PreTrainedModel, batch: MaskedBatch) -> dict[str, Tensor]:
        """In one pass if the batch fits the device, else in groups with gradient caching."""
        groups = list(batch.groups(self.tokens_per_pass))
        losses: dict[str, Tensor] = {}

        def loss(rows: Tensor) -> Tensor:
            attached = self._losses(_split(rows, groups), batch)
            losses.update({name: value.detach() for name, value in attached.items()})
            return attached["loss"]

        cached_backward(lambda group: _stack(self.model.predict(group)), groups, loss)
        return losses

    def validate(self, model: PreTrainedModel) -> dict[str, float]:
        """Both losses on held-out documents, always with the same masks, and the accuracy of both predictions.

        `block_chance` is the accuracy of picking blocks at random.
        """
        totals: dict[str, float] = {}
        for batch in self._validation_batches:
            for name, value in self._totals(batch.to(self.model.device)).items():
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
        measures["loss"] = self._total(measures.get("masked_word_loss", 0.0), measures.get("masked_block_loss", 0.0))
        return measures

    def is_new(self, parameter: str) -> bool:
        """All that is put on top of a backbone; without one everything is new, and learns at one rate."""
        return self.options.backbone is not None and not parameter.startswith("smith.sentence_level.")

    def save(self, folder: Path) -> None:
        """The encoder alone, and the tokenizer."""
        save_checkpoint(self.model.smith, folder)
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
    def tokens_per_pass(self) -> int:
        """As many as fit on the device."""
        return token_budget(self.settings, self.model.smith.sentence_level, self.model.device)

    def _masked(self, numbers: Ints, random: np.random.Generator, anywhere: bool = False) -> MaskedBatch:
        documents = [self.data.tokens[number] for number in numbers.tolist()]
        return self.masking.mask(self.layout.lay_out(documents, random if anywhere else None), random)

    @cached_property
    def _validation_batches(self) -> list[MaskedBatch]:
        """As large as in training. They do not depend on the seed, so runs can be compared."""
        numbers = step_rng(0, 0).permutation(self.data.documents("validation"))[: self.options.validation_documents]
        parts = np.array_split(numbers, -(-len(numbers) // self.settings.documents))
        batches = [self._masked(part, step_rng(0, step)) for step, part in enumerate(parts)]
        if self.options.masked_blocks and not any(bool(batch.is_masked.any()) for batch in batches):
            raise LongmatchError(
                "No document held out for validation is longer than one block. Add longer documents, or set "
                "masked_blocks=0 to learn from words alone."
            )
        return batches

    def _losses(self, predictions: Predictions, batch: MaskedBatch) -> dict[str, Tensor]:
        """Equation 7."""
        words = self.model.word_loss(predictions.words, batch.word_labels)
        blocks = masked_block_loss(predictions.predicted, predictions.original)
        return {"loss": self._total(words, blocks), "masked_word_loss": words, "masked_block_loss": blocks}

    def _total(self, words: Any, blocks: Any) -> Any:
        """Both losses, weighted."""
        return self.options.word_weight * words + self.options.block_weight * blocks

    @torch.no_grad()
    def _totals(self, batch: MaskedBatch) -> dict[str, float]:
        """Sums over the masked words and blocks of a batch."""
        groups = list(batch.groups(self.tokens_per_pass))
        predictions = _split(torch.cat([_stack(self.model.predict(group)) for group in groups]), groups)
        losses, labels = self._losses(predictions, batch), batch.word_labels
        parts = zip(predictions.words.split(MAX_WORDS), labels.split(MAX_WORDS), strict=True)
        blocks = len(predictions.predicted)
        return {
            "words": float(len(labels)),
            "word_loss": float(losses["masked_word_loss"]) * len(labels),
            "words_right": float(sum(int((self.model.word_logits(h).argmax(1) == w).sum()) for h, w in parts)),
            "blocks": float(blocks),
            "block_loss": float(losses["masked_block_loss"]) * blocks,
            "blocks_right": float(identified_blocks(predictions.predicted, predictions.original)),
            "blocks_by_chance": 1.0 if blocks else 0.0,
        }

    def _word_counts(self) -> Tensor:
        """Occurrences of each word of the vocabulary in a sample of the training documents."""
        sample = step_rng(0, 0).permutation(self._documents)[:COUNTED].tolist()
        limit = self.layout.limit * int(self.model.config.max_blocks)
        ids = np.concatenate([self.data.tokens.piece(number, 0, limit) for number in sample])
        return torch.from_numpy(np.bincount(ids, minlength=len(self.model.words.bias)).astype(np.float32))


def _stack(predictions: Predictions) -> Tensor:
    """All vectors of a group as rows, for gradient caching."""
    return torch.cat([predictions.predicted, predictions.original, predictions.words])


def _split(rows: Tensor, groups: Sequence[MaskedBatch]) -> Predictions:
    """The inverse of `_stack` over all groups of a batch."""
    counts = [n for group in groups for n in (int(group.is_masked.sum()),) * 2 + (group.masked_words,)]
    parts = rows.split(counts)
    return Predictions(*(torch.cat(parts[kind::3]) for kind in range(3)))
