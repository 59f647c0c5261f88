"""SMITH's pre-training (section 4.2, equation 7): masked words and masked blocks of unlabelled documents.

What it adds to the encoder comes first: masks, predictions of what they cover, and their losses; then the recipe.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import torch
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint
from transformers import PreTrainedModel

from longmatch.encoders.pretrained import DEFAULT_NAME
from longmatch.errors import LongmatchError
from longmatch.lab.encoders.checkpoint import save_checkpoint, special_tokens
from longmatch.lab.encoders.flat import DocumentPieces
from longmatch.lab.encoders.packed.bert import forward_packed, uses_packing
from longmatch.lab.encoders.ragged import offsets_of, to_device
from longmatch.lab.papers.smith.encoder import SmithConfig, SmithModel
from longmatch.lab.papers.smith.training import SmithModelSettings
from longmatch.lab.training.bi_encoder_recipe import cached_backward
from longmatch.lab.training.data.training_data import TrainingData
from longmatch.lab.training.masked_words import IGNORED, WordHead, mask_pieces, masked_word_loss
from longmatch.lab.training.recipe import EpochSampler, Recipe, step_rng, token_budget
from longmatch.lab.training.settings import TrainingSettings, at_least, below_one
from longmatch.units.tokens import Ints

MAX_WORDS = 8_192  # masked words whose logits over the whole vocabulary are held at a time
COUNTED = 2_000  # documents whose words are counted before training begins


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


class Predictions(NamedTuple):
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
        else:  # blocks of similar length padded together
            block_order, word_order, parts, word_parts = [], [], [], []
            text, labels = batch.blocks.text, to_device(batch.labels, batch.blocks.device)
            for rows, places, mask in text.by_length():
                states = self.smith.encode_tokens(text.ids[places] * mask, mask.long())
                is_masked = mask & (labels[places] != IGNORED)
                block_order.append(rows)
                parts.append(self.smith.block_vectors(states, mask))
                word_order.append(places[is_masked])
                word_parts.append(states[is_masked])
            blocks = torch.cat(parts)[to_device(torch.cat(block_order).argsort(), batch.blocks.device)]
            words = torch.cat(word_parts).float()[torch.cat(word_order).argsort()]
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
            return torch.as_tensor(self.block_head(predicted))

    def word_logits(self, hidden: Tensor) -> Tensor:
        """Logits over the vocabulary for token vectors: (tokens, width) -> (tokens, vocabulary)."""
        return torch.as_tensor(self.words(hidden, self.smith.sentence_level.get_input_embeddings().weight))

    def word_loss(self, hidden: Tensor, labels: Tensor) -> Tensor:
        """The masked-word loss; more than MAX_WORDS words in parts, recomputed in the backward pass."""
        if len(labels) <= MAX_WORDS:
            return masked_word_loss(self.word_logits(hidden), labels)

        def summed(hidden: Tensor, labels: Tensor) -> Tensor:
            return masked_word_loss(self.word_logits(hidden), labels) * len(labels)

        parts = zip(hidden.split(MAX_WORDS), labels.split(MAX_WORDS), strict=True)
        sums = [checkpoint(summed, *part, use_reentrant=False) for part in parts]
        return torch.stack(sums).sum() / len(labels)


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
        shares = options.masked_words, options.masked_blocks
        self.masking = BlockMasking(tokenizer.mask_token_id, len(tokenizer), *shares)
        self.documents = data.documents("train")
        self.epochs = EpochSampler(len(self.documents), settings.documents, settings.seed)
        sample = step_rng(0, 0).permutation(self.documents)[:COUNTED].tolist()
        limit = self.layout.limit * int(model.config.max_blocks)
        ids = np.concatenate([data.tokens.piece(number, 0, limit) for number in sample])
        counts = np.bincount(ids, minlength=len(model.words.bias)).astype(np.float32)
        model.words.init_frequencies(torch.from_numpy(counts))

    @classmethod
    def make(cls, data: Sequence[Path], cache: Path, settings: TrainingSettings, options: PretrainSettings) -> Self:
        """A new model; labels are not used."""
        model, tokenizer = options.new_model(settings.max_tokens)
        documents = TrainingData.open(data, tokenizer.backend_tokenizer, cache, seed=settings.seed)
        return cls(documents, SmithForPretraining(model, options.block_head), tokenizer, settings, options)

    @property
    def steps_per_epoch(self) -> int:
        """Until every document has been drawn once."""
        return self.epochs.steps_per_epoch

    def draw(self, step: int) -> MaskedBatch:
        """The documents of a step, masked."""
        numbers = self.documents[self.epochs.rows(step)]
        return self._masked(numbers, step_rng(self.settings.seed, step), self.options.anywhere)

    def backward(self, model: PreTrainedModel, batch: MaskedBatch) -> dict[str, Tensor]:
        """In one pass if the batch fits the device, else in groups with gradient caching."""
        groups = list(batch.groups(self.tokens_per_pass))
        losses: dict[str, Tensor] = {}

        def loss(rows: Tensor) -> Tensor:
            attached = self._losses(_split(rows, groups), batch)
            losses.update({name: value.detach() for name, value in attached.items()})
            return attached["loss"]

        cached_backward(lambda group: torch.cat(self.model.predict(group)), groups, loss)
        return losses

    @torch.no_grad()
    def validate(self, model: PreTrainedModel) -> dict[str, float]:
        """Both losses on held-out documents, always with the same masks, and the accuracy of both predictions.

        `block_chance` is the accuracy of picking blocks at random.
        """
        word_sums, block_sums = np.zeros(3), np.zeros(4)
        for batch in (batch.to(self.model.device) for batch in self.validation_batches):
            groups = list(batch.groups(self.tokens_per_pass))
            predictions = _split(torch.cat([torch.cat(self.model.predict(group)) for group in groups]), groups)
            losses, labels, blocks = self._losses(predictions, batch), batch.word_labels, len(predictions.predicted)
            parts = zip(predictions.words.split(MAX_WORDS), labels.split(MAX_WORDS), strict=True)
            words_right = sum(int((self.model.word_logits(h).argmax(1) == w).sum()) for h, w in parts)
            blocks_right = identified_blocks(predictions.predicted, predictions.original)
            word_sums += [len(labels), len(labels) * float(losses["masked_word_loss"]), words_right]
            block_sums += [blocks, blocks * float(losses["masked_block_loss"]), blocks_right, min(blocks, 1)]
        word_loss, word_accuracy = (word_sums[1:] / max(1, word_sums[0])).tolist()
        block_loss, block_accuracy, block_chance = (block_sums[1:] / max(1, block_sums[0])).tolist()
        measures = {"loss": self.options.word_weight * word_loss + self.options.block_weight * block_loss}
        if self.options.masked_words:
            measures |= {"masked_word_loss": word_loss, "word_accuracy": word_accuracy}
        if self.options.masked_blocks:
            measures |= {"masked_block_loss": block_loss, "block_accuracy": block_accuracy}
            measures["block_chance"] = block_chance
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
        backbone, vocabulary = self.options.backbone, self.options.tokenizer or DEFAULT_NAME
        start = {"backbone": backbone} if backbone else {"vocabulary": vocabulary}
        return {**start, "weights": self.model.smith.num_parameters(), **self.data.facts}

    @property
    def tokens_per_pass(self) -> int:
        """As many as fit on the device."""
        return token_budget(self.settings, self.model.smith.sentence_level, self.model.device)

    def _masked(self, numbers: Ints, random: np.random.Generator, anywhere: bool = False) -> MaskedBatch:
        documents = [self.data.tokens[number] for number in numbers.tolist()]
        return self.masking.mask(self.layout.lay_out(documents, random if anywhere else None), random)

    @cached_property
    def validation_batches(self) -> list[MaskedBatch]:
        """Held-out documents, masked; they do not depend on the seed, so runs can be compared."""
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
        loss = self.options.word_weight * words + self.options.block_weight * blocks
        return {"loss": loss, "masked_word_loss": words, "masked_block_loss": blocks}


def _split(rows: Tensor, groups: Sequence[MaskedBatch]) -> Predictions:
    """The predictions of a batch, from those of each of its groups, concatenated."""
    counts: list[int] = []
    for group in groups:
        blocks, words = int(group.is_masked.sum()), int((group.labels != IGNORED).sum())
        counts += [blocks, blocks, words]
    parts = rows.split(counts)
    return Predictions(*(torch.cat(parts[kind::3]) for kind in range(3)))
