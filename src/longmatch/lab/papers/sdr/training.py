"""SDR's training (section 3.2, equation 3): a contrastive loss on sentence pairs, plus masked language modelling.

`SdrModel` is what is trained: a backbone, and a head that predicts masked words.
The defaults of the settings are for users, the paper's own values are a preset.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Literal, Self

import numpy as np
import torch
from torch import Tensor, nn
from transformers import PretrainedConfig, PreTrainedModel

from longmatch.encoders.pretrained import DEFAULT_NAME, locate
from longmatch.errors import LongmatchError
from longmatch.lab.encoders.backbone import TorchBackbone
from longmatch.lab.encoders.checkpoint import open_tokenizer
from longmatch.lab.encoders.flat import FlatTokens, mean_pool
from longmatch.lab.encoders.low_rank import add_low_rank_layers, apply_change, low_rank_change
from longmatch.lab.encoders.packed.bert import forward_packed, pool_packed, uses_packing
from longmatch.lab.losses import info_nce_loss
from longmatch.lab.papers.sdr.pairs import INTRA_SHARE, DocumentHalves, PairLayout, SentenceBatch, SentencePool
from longmatch.lab.training.bi_encoder_recipe import cached_backward
from longmatch.lab.training.data.training_data import TrainingData
from longmatch.lab.training.masked_words import IGNORED, WordHead, masked_word_loss
from longmatch.lab.training.recipe import EpochSampler, Recipe, step_rng, token_budget
from longmatch.lab.training.sentence_model import save_sentence_model
from longmatch.lab.training.settings import TrainingSettings, above_zero, at_least
from longmatch.models.sdr.score import Unit
from longmatch.units.tokens import Ints

PAPER: Mapping[str, Any] = {  # equations 1 to 3, section 4.7
    "pairs": 8,
    "unit": "section",
    "score_by": "section",
    "loss": "margin",
    "margin": 1.0,
    "word_weight": 1.0,
    "masked_pairs": False,
    "rank": None,
    "select_by": "loss",
    "learning_rate": 5e-5,  # not in the paper
}


class SdrModel(PreTrainedModel):  # type: ignore[misc]
    """A backbone with a head for masked words; only the backbone is kept after training."""

    base_model_prefix = "backbone"
    backbone: Any

    def __init__(self, backbone: Any) -> None:
        super().__init__(PretrainedConfig())  # the backbone has its own config
        self.backbone = backbone
        embeddings = backbone.get_input_embeddings().weight
        self.words = WordHead(backbone.config.hidden_size, embeddings, getattr(backbone.config, "hidden_act", "gelu"))

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        """The token vectors of the last layer: (sentences, tokens, width)."""
        return torch.as_tensor(self.backbone(input_ids=ids, attention_mask=mask).last_hidden_state)

    def word_logits(self, hidden: Tensor, head_only: bool = False) -> Tensor:
        """Logits over the vocabulary for token vectors: (tokens, width) -> (tokens, vocabulary).

        With `head_only` no gradient reaches the backbone.
        """
        embeddings = self.backbone.get_input_embeddings().weight
        if head_only:
            hidden, embeddings = hidden.detach(), embeddings.detach()
        return torch.as_tensor(self.words(hidden, embeddings))

    def encode_sentences(self, text: FlatTokens) -> Tensor:
        """Sentence vectors, the mean over their tokens, in order: (sentences, width)."""
        if uses_packing(self.backbone):
            return pool_packed(forward_packed(self.backbone, text), text)
        return text.encode_each(lambda ids, mask, _: mean_pool(self(ids, mask), mask))

    def encode_masked(self, text: FlatTokens, labels: Tensor) -> tuple[Tensor, Tensor]:
        """The token vectors (masked, width) and labels (masked,) of the masked words, in no particular order."""
        if uses_packing(self.backbone):
            return forward_packed(self.backbone, text)[labels != IGNORED], labels[labels != IGNORED]
        vectors, words = [], []
        for _, places, mask in text.by_length():
            padded_labels = torch.where(mask, labels[places], IGNORED)
            vectors.append(self(text.ids[places], mask)[padded_labels != IGNORED])
            words.append(padded_labels[padded_labels != IGNORED])
        return torch.cat(vectors), torch.cat(words)


def margin_contrastive_loss(p: Tensor, q: Tensor, labels: Tensor, margin: float = 1.0) -> Tensor:
    """Margin contrastive loss on cosines (Hadsell et al., 2006; SDR equations 1 and 2), averaged over the pairs.

        1 - cos(p, q)                    for a pair from one paragraph (label 1)
        max(0, cos(p, q) - (1 - m))      for a pair from different documents (label 0)

    With m = 1 negatives are pushed to be orthogonal, not opposite; m = 2 pushes them to -1 (section 4.6).
    `p` and `q` are the sentence vectors of the pairs: (pairs, width).

    >>> a, b = torch.tensor([[1.0, 0.0]]), torch.tensor([[0.0, 1.0]])
    >>> margin_contrastive_loss(a, b, torch.tensor([1])).item(), margin_contrastive_loss(a, b, torch.tensor([0])).item()
    (1.0, 0.0)
    """
    cosine = nn.functional.cosine_similarity(p.float(), q.float(), dim=1)
    negative = (cosine - (1 - margin)).clamp(min=0)
    return (labels * (1 - cosine) + (1 - labels) * negative).mean()


@dataclass(frozen=True)
class SdrSettings:
    """SDR's settings, in addition to those of all models, of which `documents` has no effect here.

    By default a small change of the backbone makes the sentences of a section recognise each other among those of other
    documents (InfoNCE). `PAPER` has the paper's loss over all weights. Its ablations (section 4.6): `contrastive=false`
    (masked words alone), `margin=2` (negatives pushed to -1, the standard cosine loss).
    """

    RENAMED: ClassVar[Mapping[str, str]] = {"masked_words": "word_weight"}

    backbone: str | None = None  # a folder or hub id; the packaged MiniLM by default
    pairs: int = 64  # per batch
    unit: Unit = "section"  # pairs are drawn from it
    score_by: Unit = "paragraph"  # the unit whose sentences the trained model takes together
    contrastive: bool = True
    loss: Literal["info_nce", "margin"] = "info_nce"  # of the pairs
    temperature: float = 0.05  # info_nce
    margin: float = 1.0  # margin
    word_weight: float = 0.0  # of the masked-word loss; 0: no words are masked
    masked_share: float = 0.15  # of the tokens
    masked_pairs: bool = False  # compare the masked sentences instead of the originals
    head_warmup: int = 200  # batches in which the words teach a new head alone; a pretrained head needs none
    rank: int | None = 8  # of the change to each matrix of the backbone; none: all weights are trained
    validation_pairs: int = 1_024
    validation_documents: int = 256  # whose halves are ranked
    select_by: Literal["halves", "loss"] = "halves"  # chooses the best weights, the untrained ones among them

    def __post_init__(self) -> None:
        if not self.contrastive and not self.word_weight:
            raise LongmatchError("With contrastive=false and word_weight=0 nothing is left to learn; drop one of them.")
        if self.masked_pairs and not self.word_weight:
            raise LongmatchError("With masked_pairs=true some words must be masked; set word_weight above 0.")
        at_least(self, pairs=1, validation_pairs=2, validation_documents=2, margin=0, word_weight=0)
        at_least(self, head_warmup=0, rank=1)
        if self.contrastive and self.loss == "info_nce":
            at_least(self, pairs=2)
        above_zero(self, "temperature")
        if not 0 < self.masked_share < 1:
            raise LongmatchError(f"The setting masked_share is {self.masked_share}; it must lie between 0 and 1.")


class SdrRecipe(Recipe[SentenceBatch]):
    """The pair loss over sentences as they are, and the masked-word loss over their masked copies."""

    name: ClassVar[str] = "sdr"
    Settings: ClassVar[type] = SdrSettings
    defaults: ClassVar[Mapping[str, Any]] = {"learning_rate": 1e-3}  # of a low-rank change
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {"paper": PAPER}
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
        share = options.masked_share if options.word_weight else 0.0
        specials = (backbone.first_token, backbone.last_token)
        self.layout = PairLayout(
            tokenizer.mask_token_id, len(tokenizer), specials, share, options.contrastive, options.masked_pairs
        )
        train, held_out = data.documents("train"), data.documents("validation")
        self.pool, self.validation_pool = self._pool(train), self._pool(held_out)
        if not self.validation_pool.has_pairs:  # a single document: training documents provide its negatives
            self.validation_pool = self._pool(np.concatenate([held_out, train]))
        anchors = self.validation_pool.anchors
        self.validation_anchors = anchors[np.isin(self.validation_pool.document[anchors], held_out)]
        if not self.pool.has_pairs or not len(self.validation_anchors):
            raise LongmatchError(
                "The documents give no pairs to learn from and to validate on: SDR needs several documents, with "
                f"{options.unit}s of two sentences or more. Add documents."
            )
        self.epochs = EpochSampler(len(self.pool.anchors), options.pairs, settings.seed)
        self.new_head = not self.model.words.load_pretrained(locate(options.backbone))
        if self.new_head:
            counts = np.zeros(len(self.model.words.bias), dtype=np.int64)
            for number in np.unique(self.pool.document).tolist():
                counts += np.bincount(data.tokens[number].ids, minlength=len(counts))
            self.model.words.init_frequencies(torch.from_numpy(counts))
        self.model.words.requires_grad_(options.word_weight > 0)
        if options.rank is not None:
            add_low_rank_layers(self.model.backbone, options.rank)

    @classmethod
    def make(cls, data: Sequence[Path], cache: Path, settings: TrainingSettings, options: SdrSettings) -> Self:
        """Open the documents and the backbone; labels are not used."""
        backbone = TorchBackbone.load(options.backbone, device="cpu", precision="float32")
        found = TrainingData.open(data, backbone.tokenizer, cache, seed=settings.seed)
        return cls(backbone, open_tokenizer(locate(options.backbone)), found, settings, options)

    def _pool(self, documents: Ints) -> SentencePool:
        return SentencePool.of(self.data.tokens, documents, self.limit, self.settings.max_tokens, self.options.unit)

    @property
    def rule(self) -> str:
        """The rule that the trained model scores by."""
        return "sdr-section" if self.options.score_by == "section" else "sdr"

    @property
    def steps_per_epoch(self) -> int:
        """Until every anchor has been drawn once."""
        return self.epochs.steps_per_epoch

    def draw(self, step: int) -> SentenceBatch:
        """The pairs of a step; InfoNCE takes its negatives from the other pairs."""
        anchors = self.pool.anchors[self.epochs.rows(step)]
        random = step_rng(self.settings.seed, step)
        pairs = self.pool.draw(anchors, random, 1.0 if self.options.loss == "info_nce" else INTRA_SHARE)
        batch = self.layout.lay_out(self.pool, pairs, random)
        return replace(batch, head_only=self.new_head and step < self.options.head_warmup)

    def backward(self, model: PreTrainedModel, batch: SentenceBatch) -> dict[str, Tensor]:
        """In groups of bounded memory, whose gradients add up to that of the whole batch."""
        losses = {"loss": torch.zeros((), device=batch.intra.device)}
        if len(batch.compared):
            groups = list(batch.compared.groups(self.tokens_per_pass))
            losses["contrastive_loss"] = cached_backward(
                self.model.encode_sentences, groups, lambda vectors: self.pair_loss(vectors, batch)
            )
            losses["loss"] += losses["contrastive_loss"]
        if len(batch.masked):
            total, count = torch.zeros_like(losses["loss"]), max(1, batch.masked_count)
            for text, labels in batch.masked_groups(self.settings.token_budget(batch.labels.is_cuda)):
                with torch.set_grad_enabled(torch.is_grad_enabled() and not batch.head_only):
                    hidden, words = self.model.encode_masked(text, labels)
                loss = masked_word_loss(self.model.word_logits(hidden, batch.head_only), words) * (len(words) / count)
                (self.options.word_weight * loss).backward()
                total += loss.detach()
            losses["masked_word_loss"] = total
            losses["loss"] += self.options.word_weight * total
        return losses

    @property
    def tokens_per_pass(self) -> int:
        """As many as fit on the device."""
        return token_budget(self.settings, self.model.backbone, self.model.device)

    def validate(self, model: PreTrainedModel) -> dict[str, float]:
        """How well the halves of held-out documents find each other by SDR's score: the mean reciprocal rank.

        Then the losses, and the mean cosine of both kinds of pairs, always for the same pairs and masks.
        """
        device, batches = self.model.device, self._validation_batches
        groups = self._halves.text.to(device).groups(self.tokens_per_pass)
        halves = torch.cat([self.model.encode_sentences(group) for group in groups])
        contrastive, words, cosines = torch.zeros(()), torch.zeros(()), []
        for batch in (batch.to(device) for batch in batches):
            vectors = self.model.encode_sentences(batch.compared)
            contrastive += len(batch) * self.pair_loss(vectors, batch).cpu()
            cosines.append(nn.functional.cosine_similarity(vectors[0::2], vectors[1::2], dim=1).cpu())
            if len(batch.masked):
                hidden, labels = self.model.encode_masked(batch.masked, batch.labels)
                words += len(labels) * masked_word_loss(self.model.word_logits(hidden), labels).cpu()
        contrastive /= max(1, sum(map(len, batches)))
        words /= max(1, sum(batch.masked_count for batch in batches))
        cosine, intra = torch.cat(cosines), torch.cat([batch.intra for batch in batches]).bool()
        chosen_by = {
            "halves_mrr": self._halves.mean_reciprocal_rank(halves),
            "loss": float(self.options.word_weight * words + (contrastive if self.options.contrastive else 0.0)),
        }
        first = "loss" if self.options.select_by == "loss" else "halves_mrr"
        return {
            first: chosen_by[first],
            **chosen_by,
            "contrastive_loss": float(contrastive),
            **({"masked_word_loss": float(words)} if self.options.word_weight else {}),
            "cosine_alike": float(cosine[intra].mean()),
            "cosine_apart": float(cosine[~intra].mean()),
        }

    def is_new(self, parameter: str) -> bool:
        """Whether a parameter belongs to a head that the checkpoint did not have."""
        return self.new_head and parameter.startswith("words.")

    def save(self, folder: Path) -> None:
        """The backbone alone, as a sentence-transformers folder, with a low-rank change added to its weights."""
        backbone = self.model.backbone
        if self.options.rank is not None:
            change = low_rank_change(backbone)
            backbone = TorchBackbone.load(self.options.backbone, device="cpu", precision="float32").model
            apply_change(backbone, change)
        save_sentence_model(folder, backbone, self.tokenizer, self.limit + 2)

    @property
    def facts(self) -> Mapping[str, Any]:
        """For the model card."""
        head = {"masked-word head": "new" if self.new_head else "the backbone's own"}
        return {
            "backbone": self.options.backbone or DEFAULT_NAME,
            "sentences": len(self.pool),
            **(head if self.options.word_weight else {}),
            **self.data.facts,
        }

    @cached_property
    def _validation_batches(self) -> list[SentenceBatch]:
        """They do not depend on the seed, so runs can be compared."""
        random = step_rng(0, 0)
        anchors = random.permutation(self.validation_anchors)[: self.options.validation_pairs]
        pool, layout = self.validation_pool, replace(self.layout, compares=True)
        parts = np.array_split(anchors, -(-len(anchors) // 64))
        return [layout.lay_out(pool, pool.draw(part, random), random) for part in parts]

    @cached_property
    def _halves(self) -> DocumentHalves:
        """Those of held-out documents, among which training documents fill up the number."""
        random, count = step_rng(0, 0), self.options.validation_documents
        held_out = random.permutation(np.unique(self.validation_pool.document[self.validation_anchors]))[:count]
        others = random.permutation(self.data.documents("train"))[: count - len(held_out)]
        return DocumentHalves.of(self._pool(np.concatenate([held_out, others])), held_out, self.layout.specials)

    def pair_loss(self, vectors: Tensor, batch: SentenceBatch) -> Tensor:
        """From the sentence vectors of the pairs, one after another: (2 pairs, width). Always in float32."""
        p, q = vectors[0::2], vectors[1::2]
        with torch.autocast(vectors.device.type, enabled=False):
            if self.options.loss == "margin":
                return margin_contrastive_loss(p, q, batch.intra, self.options.margin)
            intra = batch.intra.bool()
            if not intra.any():
                return vectors.sum() * 0.0
            home = batch.document[intra]
            return info_nce_loss(p[intra], q[intra], self.options.temperature, home[:, None] == home)
