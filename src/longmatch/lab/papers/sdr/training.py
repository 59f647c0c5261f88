"""SDR's training (section 3.2, equation 3): the contrastive loss on sentence pairs plus masked language modelling."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
import torch
from torch import Tensor, nn
from transformers import PreTrainedModel

from longmatch.encoders.pretrained import DEFAULT_NAME, locate
from longmatch.errors import LongmatchError
from longmatch.lab.encoders.backbone import TorchBackbone
from longmatch.lab.encoders.tokenizer import open_tokenizer
from longmatch.lab.papers.sdr.batch import PairLayout, SentenceBatch
from longmatch.lab.papers.sdr.encoder import SdrModel
from longmatch.lab.papers.sdr.loss import margin_contrastive_loss
from longmatch.lab.papers.sdr.pairs import SentencePool
from longmatch.lab.training.data import TrainingData
from longmatch.lab.training.limits import at_least
from longmatch.lab.training.masked_words import masked_word_loss
from longmatch.lab.training.recipe import Recipe
from longmatch.lab.training.samplers import EpochSampler, step_rng
from longmatch.lab.training.sentence_model import save_sentence_model
from longmatch.lab.training.settings import TrainingSettings
from longmatch.units.tokens import Ints

LOSSES = ("loss", "contrastive_loss", "masked_word_loss")


@dataclass(frozen=True)
class SdrSettings:
    """SDR's settings, in addition to those of all models, of which `documents` has no effect here.

    The paper's batch is 8 pairs (section 4.7); 64 see as many sentences in fewer steps. Its loss has no weights
    (`masked_words=1`). Ablations (section 4.6): `contrastive=false` (masked words alone), `margin=2` (negatives pushed
    to -1, the standard cosine loss). With `masked_words=0` no words are masked at all.
    """

    backbone: str | None = None  # a folder or hub id; the packaged MiniLM by default
    pairs: int = 64  # per batch
    contrastive: bool = True
    margin: float = 1.0
    masked_words: float = 1.0  # weight of the masked-word loss
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
class SdrLosses:
    """Means over the pairs of a group, and over its masked words."""

    contrastive: Tensor
    words: Tensor
    cosine: Tensor  # (pairs,)


class SdrRecipe(Recipe[SentenceBatch]):
    """One pass over the masked sentences gives both losses."""

    name: ClassVar[str] = "sdr"
    Settings: ClassVar[type] = SdrSettings
    model: SdrModel

    def __init__(
        self,
        backbone: TorchBackbone,
        tokenizer: Any,
        data: TrainingData,
        settings: TrainingSettings,
        options: SdrSettings,
    ) -> None:
        self.data, self.tokenizer, self.settings, self.options = data, tokenizer, settings, options
        self.model, self.limit = SdrModel(backbone.model), backbone.max_tokens
        if tokenizer.mask_token_id is None:
            raise LongmatchError(f"The model {options.backbone} has no mask token; name a BERT-like encoder.")
        share = options.masked_share if options.masked_words else 0.0
        specials = (backbone.first_token, backbone.last_token)
        self.layout = PairLayout(tokenizer.mask_token_id, len(tokenizer), specials, share)
        train, held_out = data.documents("train"), data.documents("validation")
        self.pool, self.validation_pool = self._pool(train), self._pool(held_out)
        if not self.validation_pool.has_pairs:  # a single document: training documents provide its negatives
            self.validation_pool = self._pool(np.concatenate([held_out, train]))
        anchors = self.validation_pool.anchors
        self.validation_anchors = anchors[np.isin(self.validation_pool.document[anchors], held_out)]
        if not self.pool.has_pairs or not len(self.validation_anchors):
            raise LongmatchError(
                "The documents give no pairs to learn from and to validate on: SDR needs several documents, with "
                "paragraphs of two sentences or more. Add documents."
            )
        self.epochs = EpochSampler(len(self.pool.anchors), options.pairs, settings.seed)
        self.new_head = not self.model.words.load_pretrained(locate(options.backbone))
        if self.new_head:
            self.model.words.init_frequencies(torch.from_numpy(self.pool.word_counts(len(self.model.words.bias))))

    @classmethod
    def make(cls, data: Sequence[Path], cache: Path, settings: TrainingSettings, options: SdrSettings) -> Self:
        """Open the documents and the backbone; labels are not used."""
        backbone = TorchBackbone.load(options.backbone, device="cpu", precision="float32")
        found = TrainingData.open(data, backbone.tokenizer, cache, seed=settings.seed)
        return cls(backbone, open_tokenizer(locate(options.backbone)), found, settings, options)

    def _pool(self, documents: Ints) -> SentencePool:
        return SentencePool.of(self.data.tokens, documents, self.limit, self.settings.max_tokens)

    @property
    def steps_per_epoch(self) -> int:
        """Until every anchor has been drawn once."""
        return self.epochs.steps_per_epoch

    def draw(self, step: int) -> SentenceBatch:
        """The pairs of a step."""
        anchors = self.pool.anchors[self.epochs.rows(step)]
        random = step_rng(self.settings.seed, step)
        return self.layout.lay_out(self.pool, self.pool.draw(anchors, random), random)

    def backward(self, model: PreTrainedModel, batch: SentenceBatch) -> dict[str, Tensor]:
        """In groups of bounded memory, whose gradients add up to that of the whole batch."""
        totals = {name: batch.labels.new_zeros((), dtype=torch.float32) for name in LOSSES}
        pairs, masked = len(batch), max(1, batch.masked)
        for group in batch.groups(self.settings.token_budget(batch.labels.is_cuda)):
            losses = self._losses(group)
            shares = {
                "contrastive_loss": losses.contrastive * (len(group) / pairs),
                "masked_word_loss": losses.words * (group.masked / masked),
            }
            shares["loss"] = self._total(shares["contrastive_loss"], shares["masked_word_loss"])
            shares["loss"].backward()
            totals = {name: value + shares[name].detach() for name, value in totals.items()}
        return totals

    def validate(self, model: PreTrainedModel) -> dict[str, float]:
        """The loss on held-out documents, always with the same pairs and masks.

        Also the mean cosine of both kinds of pairs without masks, as scoring sees them.
        """
        masked, plain = self._validation_batches
        results = [self._losses(batch.to(self.model.device)) for batch in masked]
        contrastive = _mean([losses.contrastive for losses in results], [len(batch) for batch in masked])
        words = _mean([losses.words for losses in results], [batch.masked for batch in masked])
        cosine = torch.cat([self._losses(batch.to(self.model.device)).cosine.cpu() for batch in plain])
        intra = torch.cat([batch.intra for batch in plain]).bool()
        return {
            "loss": float(self._total(contrastive, words)),
            "contrastive_loss": float(contrastive),
            "masked_word_loss": float(words),
            "cosine_alike": float(cosine[intra].mean()),
            "cosine_apart": float(cosine[~intra].mean()),
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
    def _validation_batches(self) -> tuple[list[SentenceBatch], list[SentenceBatch]]:
        """With masks and without. They do not depend on the seed, so runs can be compared."""
        random = step_rng(0, 0)
        anchors = random.permutation(self.validation_anchors)[: self.options.validation_pairs]
        pool, parts = self.validation_pool, np.array_split(anchors, -(-len(anchors) // 64))
        pairs = [pool.draw(part, random) for part in parts]
        layouts = self.layout, replace(self.layout, masked_share=0.0)
        masked, plain = ([layout.lay_out(pool, part, random) for part in pairs] for layout in layouts)
        return masked, plain

    def _losses(self, batch: SentenceBatch) -> SdrLosses:
        vectors, masked, labels = self.model.encode_batch(batch)
        p, q = vectors[0::2], vectors[1::2]
        return SdrLosses(
            margin_contrastive_loss(p, q, batch.intra, self.options.margin),
            masked_word_loss(self.model.word_logits(masked), labels),
            nn.functional.cosine_similarity(p.detach(), q.detach(), dim=1),
        )

    def _total(self, contrastive: Tensor, words: Tensor) -> Tensor:
        """Equation 3, with the weights of the settings."""
        return self.options.masked_words * words + (contrastive if self.options.contrastive else 0.0)


def _mean(values: list[Tensor], weights: list[int]) -> Tensor:
    """Weighted mean; 0 if all weights are 0."""
    return (torch.stack(values).cpu() * torch.tensor(weights)).sum() / max(1, sum(weights))
