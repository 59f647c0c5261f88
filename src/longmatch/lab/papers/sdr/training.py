"""SDR's training (section 3.2): sentences of one paragraph alike, of different documents orthogonal, words hidden."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
import torch
from torch import Tensor, nn
from transformers import PreTrainedModel

from longmatch.encoders.backbone import Backbone
from longmatch.encoders.pretrained import DEFAULT_NAME, locate
from longmatch.encoders.saving import save_sentence_model
from longmatch.encoders.tokenizer import open_tokenizer
from longmatch.errors import LongmatchError
from longmatch.lab.losses import margin_contrastive_loss, masked_word_loss
from longmatch.lab.papers.sdr.batch import Masking, SentenceBatch, read
from longmatch.lab.papers.sdr.encoder import SdrModel
from longmatch.lab.papers.sdr.pairs import SentencePool
from longmatch.lab.training.data import TrainingData
from longmatch.lab.training.limits import at_least
from longmatch.lab.training.recipe import Recipe
from longmatch.lab.training.samplers import EpochSampler, step_rng
from longmatch.lab.training.settings import TrainingSettings
from longmatch.units.tokens import Ints

NAMES = ("loss", "contrastive_loss", "masked_word_loss")


@dataclass(frozen=True)
class SdrSettings:
    """What SDR knows beside the settings of all models; of those, `documents` means nothing here.

    The paper's batch is 8 pairs; 64 read as many sentences in fewer steps. Its loss has no weights (`masked_words=1`).
    Ablations: `contrastive=false` (masked words alone), `margin=2` (negatives pushed to -1, the standard cosine loss).
    `masked_words=0` hides no words at all.
    """

    backbone: str | None = None  # a folder or hub id; the packaged MiniLM by default
    pairs: int = 64  # that a batch holds
    contrastive: bool = True
    margin: float = 1.0
    masked_words: float = 1.0  # the weight of the masked-word loss
    masked_share: float = 0.15  # of the tokens
    validation_pairs: int = 1_024

    def __post_init__(self) -> None:
        if not self.contrastive and not self.masked_words:
            raise LongmatchError(
                "With contrastive=false and masked_words=0 nothing is left to learn; drop one of them."
            )
        at_least(self, pairs=1, validation_pairs=2, margin=0, masked_words=0)
        if not 0 < self.masked_share < 1:
            raise LongmatchError(f"The setting masked_share is {self.masked_share}; it must lie between 0 and 1.")


@dataclass(frozen=True)
class Losses:
    """The means over a group of pairs, and over its hidden words."""

    contrastive: Tensor
    words: Tensor
    cosine: Tensor  # (pairs,)


class SdrRecipe(Recipe[SentenceBatch]):
    """Both losses come from one pass over the masked sentences."""

    name: ClassVar[str] = "sdr"
    Settings: ClassVar[type] = SdrSettings
    model: SdrModel

    def __init__(
        self, backbone: Backbone, tokenizer: Any, data: TrainingData, settings: TrainingSettings, options: SdrSettings
    ) -> None:
        self.data, self.tokenizer, self.settings, self.options = data, tokenizer, settings, options
        self.model, self.limit = SdrModel(backbone.model), backbone.max_tokens
        if tokenizer.mask_token_id is None:
            raise LongmatchError(
                f"The model {options.backbone} has no token for a hidden word; name a BERT-like encoder."
            )
        share = options.masked_share if options.masked_words else 0.0
        specials = (backbone.first_token, backbone.last_token)
        self.masking = Masking(tokenizer.mask_token_id, len(tokenizer), specials, share)
        train, held = data.documents("train"), data.documents("validation")
        self.pool, self.unseen = self._pool(train), self._pool(held)
        if not self.unseen.teaches:  # a single document: its sentences are held against those of training
            self.unseen = self._pool(np.concatenate([held, train]))
        anchors = self.unseen.anchors
        self.asked = anchors[np.isin(self.unseen.document[anchors], held)]
        if not self.pool.teaches or not len(self.asked):
            raise LongmatchError(
                "The documents give no pairs to learn from and to validate on: SDR needs several documents, with "
                "paragraphs of two sentences or more. Add documents."
            )
        self.epochs = EpochSampler(len(self.pool.anchors), options.pairs, settings.seed)
        self.new_head = not self.model.words.take_over(locate(options.backbone))
        if self.new_head:
            self.model.words.begin_with(torch.from_numpy(self.pool.word_counts(len(self.model.words.bias))))

    @classmethod
    def make(cls, data: Sequence[Path], cache: Path, settings: TrainingSettings, options: SdrSettings) -> Self:
        """Open the documents and the backbone; labels are not looked at."""
        backbone = Backbone.load(options.backbone, device="cpu", precision="float32")
        found = TrainingData.open(data, backbone.tokenizer, cache, seed=settings.seed)
        return cls(backbone, open_tokenizer(locate(options.backbone)), found, settings, options)

    def _pool(self, documents: Ints) -> SentencePool:
        return SentencePool.of(self.data.shelf, documents, self.limit, self.settings.max_tokens)

    @property
    def steps_per_epoch(self) -> int:
        """Every sentence that has company in its paragraph was once the first of a pair."""
        return self.epochs.steps_per_epoch

    def draw(self, step: int) -> SentenceBatch:
        """The pairs of a step."""
        anchors = self.pool.anchors[self.epochs.rows(step)]
        random = step_rng(self.settings.seed, step)
        return self.masking.lay_out(self.pool, self.pool.draw(anchors, random), random)

    def backward(self, model: PreTrainedModel, batch: SentenceBatch) -> dict[str, Tensor]:
        """Group by group of bounded memory; the gradients add up to that of the whole batch."""
        totals = {name: batch.words.new_zeros((), dtype=torch.float32) for name in NAMES}
        pairs, hidden = len(batch), max(1, batch.hidden)
        for group in batch.groups(self.settings.token_budget(batch.words.is_cuda)):
            found = self._losses(group)
            shares = {
                "contrastive_loss": found.contrastive * (len(group) / pairs),
                "masked_word_loss": found.words * (group.hidden / hidden),
            }
            shares["loss"] = self._total(shares["contrastive_loss"], shares["masked_word_loss"])
            shares["loss"].backward()
            totals = {name: value + shares[name].detach() for name, value in totals.items()}
        return totals

    def validate(self, model: PreTrainedModel) -> dict[str, float]:
        """The loss on held-out documents, the same pairs and masks each time.

        And the cosines of both kinds of pairs as scoring reads them, with no word hidden.
        """
        masked, plain = self._held_out
        found = [self._losses(batch.to(self.model.device)) for batch in masked]
        contrastive = _mean([losses.contrastive for losses in found], [len(batch) for batch in masked])
        words = _mean([losses.words for losses in found], [batch.hidden for batch in masked])
        cosine = torch.cat([self._losses(batch.to(self.model.device)).cosine.cpu() for batch in plain])
        alike = torch.cat([batch.alike for batch in plain]).bool()
        return {
            "loss": float(self._total(contrastive, words)),
            "contrastive_loss": float(contrastive),
            "masked_word_loss": float(words),
            "cosine_alike": float(cosine[alike].mean()),
            "cosine_apart": float(cosine[~alike].mean()),
        }

    def save(self, folder: Path) -> None:
        """The backbone alone, as a sentence-transformers folder."""
        save_sentence_model(folder, self.model.backbone, self.tokenizer, self.limit + 2)

    @property
    def facts(self) -> Mapping[str, Any]:
        """For the model card."""
        return {
            "backbone": self.options.backbone or DEFAULT_NAME,
            "sentences": len(self.pool),
            "masked-word head": "new" if self.new_head else "the backbone's own",
            **self.data.facts,
        }

    @cached_property
    def _held_out(self) -> tuple[list[SentenceBatch], list[SentenceBatch]]:
        """Fixed pairs, whatever the seed, so that runs can be compared: with fixed masks, and without any."""
        random = step_rng(0, 0)
        anchors = random.permutation(self.asked)[: self.options.validation_pairs]
        pairs = [self.unseen.draw(part, random) for part in np.array_split(anchors, -(-len(anchors) // 64))]
        plain = replace(self.masking, share=0.0)
        masked, bare = (
            [masking.lay_out(self.unseen, part, random) for part in pairs] for masking in (self.masking, plain)
        )
        return masked, bare

    def _losses(self, batch: SentenceBatch) -> Losses:
        vectors, hidden, words = read(self.model, batch)
        p, q = vectors[0::2], vectors[1::2]
        return Losses(
            margin_contrastive_loss(p, q, batch.alike, self.options.margin),
            masked_word_loss(self.model.say_words(hidden), words),
            nn.functional.cosine_similarity(p.detach(), q.detach(), dim=1),
        )

    def _total(self, contrastive: Tensor, words: Tensor) -> Tensor:
        """Equation 3, or what an ablation leaves of it."""
        return self.options.masked_words * words + (contrastive if self.options.contrastive else 0.0)


def _mean(values: list[Tensor], weights: list[int]) -> Tensor:
    """Weighted; 0 where nothing weighs anything."""
    return (torch.stack(values).cpu() * torch.tensor(weights)).sum() / max(1, sum(weights))
