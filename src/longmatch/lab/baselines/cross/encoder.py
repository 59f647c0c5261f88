"""The cross-encoder: BERT's pair classification (Devlin et al., 2019, section 4.1), two texts in one input."""

from dataclasses import dataclass
from typing import Any, Literal, Self

import torch
from torch import Tensor, nn
from transformers import AutoModel, PretrainedConfig, PreTrainedModel
from transformers.utils.generic import ModelOutput

from longmatch.encoders.pretrained import locate
from longmatch.lab.baselines.cross.selection import CrossBatch, Opening, PairLayout, Selection
from longmatch.lab.encoders.checkpoint import nested_config, open_checkpoint
from longmatch.lab.encoders.engine import max_positions
from longmatch.lab.encoders.flat import mean_pool
from longmatch.lab.encoders.packed.bert import forward_rows, uses_packing
from longmatch.lab.matchers import match_probability

SPECIALS = 3  # [CLS] a [SEP] b [SEP]
ViewPooling = Literal["max", "mean", "by-task"]
Readout = Literal["pooler", "fresh", "mean"]


class CrossConfig(PretrainedConfig):  # type: ignore[misc]
    """Configuration of a network that reads two documents together.

    `readout` says what the dense layer before the classifier reads, and how it starts: the start token's state, from
    the backbone's own pooler (pooler) or random weights (fresh); or the mean of all states, from random weights.
    `pool` says how the scores of a pair's views are combined: the maximum or the mean (SST equations 11 and 12), or by
    task: the maximum to classify, the mean to rank.
    """

    model_type = "longmatch-cross"
    backbone: dict[str, Any] | None = None  # the configuration of a BERT-like encoder
    side_tokens: int = 256  # read of each document; fewer if the backbone has too few positions for two such sides
    dropout: float = 0.1  # of the pooled vector before the classifier
    views: int = 1  # readings of a pair at inference, each with another selection of sentences
    pool: ViewPooling = "max"
    seed: int = 0  # of the selections
    threshold: float | None = None  # the score from which a pair counts as a match, chosen on validation pairs
    readout: Readout = "pooler"


@dataclass
class CrossOutput(ModelOutput):  # type: ignore[misc]
    """The output for pairs; both fields are always set.

    - logits: (pairs, 2), the second class is a match;
    - vectors: (pairs, width), the input of the classifier.
    """

    logits: Tensor = None  # type: ignore[assignment]
    vectors: Tensor = None  # type: ignore[assignment]


class CrossModel(PreTrainedModel):  # type: ignore[misc]
    """Any BERT-like encoder, a dense layer with tanh on the start token's state, and a classifier with two classes.

    A backbone that was trained on single texts has a pooler that never was: its outputs stay close to 0, and so do the
    gradients of what lies below. `readout` starts the dense layer at random instead, large enough to matter.
    """

    config_class = CrossConfig
    base_model_prefix = "cross"

    def __init__(self, config: CrossConfig) -> None:
        super().__init__(config)
        inner = nested_config(config.backbone)
        self.backbone = AutoModel.from_config(inner, trust_remote_code=False)
        if getattr(self.backbone, "pooler", None) is not None:
            self.backbone.pooler = None  # replaced by the dense layer below
        self.pooler = nn.Linear(inner.hidden_size, inner.hidden_size)
        self.dropout = nn.Dropout(config.dropout)
        self.classifier = nn.Linear(inner.hidden_size, 2)
        self.has_types = int(getattr(inner, "type_vocab_size", 0) or 0) > 1
        self.post_init()

    @classmethod
    def from_backbone(cls, name: str | None = None, **settings: Any) -> Self:
        """A new model around a pretrained backbone, by folder or hub id; the packaged MiniLM by default.

        The dense layer is initialised with the backbone's own pooler, if it has one and `readout` says so.
        """
        backbone = open_checkpoint(AutoModel, locate(name))
        model = cls(cls.config_class(backbone=backbone.config.to_dict(), **settings))
        model.backbone.load_state_dict(backbone.state_dict(), strict=False)
        dense = getattr(getattr(backbone, "pooler", None), "dense", None)
        if model.config.readout != "pooler":
            nn.init.xavier_uniform_(model.pooler.weight)
        elif dense is not None:
            model.pooler.load_state_dict(dense.state_dict())
        return model

    @property
    def width(self) -> int:
        """The size of a pair's vector."""
        return int(self.pooler.out_features)

    @property
    def side_limit(self) -> int:
        """Tokens read of each document: as configured, or half of what the backbone's positions allow."""
        positions, wanted = max_positions(self.backbone), int(self.config.side_tokens)
        return wanted if positions is None else min(wanted, (positions - SPECIALS) // 2)

    def selection(self, tokenizer: Any) -> Selection:
        """The sentences of a pair that are read: the openings; subclasses select others."""
        return Opening()

    def layout(self, selection: Selection, specials: tuple[int, int]) -> PairLayout:
        """How pairs are laid out."""
        return PairLayout(selection, self.side_limit, specials, int(self.config.seed))

    def forward(self, ids: Tensor, mask: Tensor, types: Tensor, **unused: Any) -> CrossOutput:
        """Classify pairs (pairs, tokens); `types` is 1 for the tokens of the second document."""
        vectors = self.pooled(ids, mask, types)
        return CrossOutput(logits=self.classify(vectors), vectors=vectors)

    def pooled(self, ids: Tensor, mask: Tensor, types: Tensor) -> Tensor:
        """One vector per pair: (pairs, width)."""
        hidden = self._last(ids, mask, types)
        with torch.autocast(hidden.device.type, enabled=False):
            read = mean_pool(hidden, mask) if self.config.readout == "mean" else hidden[:, 0]
            return torch.tanh(self.pooler(read.to(self.pooler.weight.dtype)))

    def classify(self, vectors: Tensor) -> Tensor:
        """(pairs, width) -> (pairs, 2), in full precision."""
        with torch.autocast(vectors.device.type, enabled=False):
            return torch.as_tensor(self.classifier(self.dropout(vectors)))

    @property
    def joined_views(self) -> int:
        """The number of views of a pair that form one vector before classification; 1: each view has its own score."""
        return 1

    def view_weights(self, views: Tensor) -> Tensor:
        """The weight of each view in its pair's vector: (pairs, views, width) -> (pairs, views, 1 or width)."""
        return views.new_full((*views.shape[:2], 1), 1 / views.shape[1])

    def states(self, ids: Tensor, mask: Tensor, types: Tensor) -> Tensor:
        """The state of each token, averaged over the backbone's layers: (pairs, tokens, width)."""
        layers = self.backbone(**self.inputs(ids, mask, types), output_hidden_states=True).hidden_states
        return torch.stack([layer.float() for layer in layers]).mean(0)

    def _last(self, ids: Tensor, mask: Tensor, types: Tensor) -> Tensor:
        """The last layer's states, the start token first: (pairs, tokens, width). On a GPU they take no padding."""
        if uses_packing(self.backbone):
            return forward_rows(self.backbone, ids, mask, types.long() if self.has_types else None)
        return torch.as_tensor(self.backbone(**self.inputs(ids, mask, types)).last_hidden_state)

    def inputs(self, ids: Tensor, mask: Tensor, types: Tensor) -> dict[str, Tensor]:
        """What the backbone is called with."""
        token_types = {"token_type_ids": types.long()} if self.has_types else {}
        return {"input_ids": ids, "attention_mask": mask.long(), **token_types}


def read(model: CrossModel, batch: CrossBatch) -> CrossOutput:
    """The vectors and logits of a batch's rows, in order; of its pairs if their views are joined."""
    vectors = batch.text.encode_each(lambda ids, mask, rows: model.pooled(ids, mask, batch.types(rows, mask)))
    if batch.joined_views > 1:
        views = vectors.reshape(-1, batch.joined_views, vectors.shape[1])
        vectors = (model.view_weights(views) * views).sum(1)
    return CrossOutput(logits=model.classify(vectors), vectors=vectors)


@torch.no_grad()
def margins(model: CrossModel, batch: CrossBatch) -> Tensor:
    """The logit of a match minus that of a non-match: (rows or pairs,), on the CPU."""
    logits = read(model, batch.to(model.device)).logits.double().cpu()
    return logits[:, 1] - logits[:, 0]


def uses_max(pool: ViewPooling, for_ranking: bool = False) -> bool:
    """Whether the highest view decides rather than the mean of all."""
    return pool == "max" or (pool == "by-task" and not for_ranking)


def match_probabilities(margins: Tensor, pool: ViewPooling, for_ranking: bool = False) -> Tensor:
    """The probability of a match (SST equations 11 and 12), from the margins of views: (pairs, views) -> (pairs,)."""
    return match_probability(margins.amax(1) if uses_max(pool, for_ranking) else margins.mean(1))
