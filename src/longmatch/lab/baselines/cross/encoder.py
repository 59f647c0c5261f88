"""The cross-encoder: BERT's pair classification (Devlin et al., 2019, section 4.1), two texts in one reading."""

from dataclasses import dataclass
from typing import Any, Self

import torch
from torch import Tensor, nn
from transformers import AutoModel, PreTrainedModel
from transformers.utils.generic import ModelOutput

from longmatch.encoders.positions import max_positions
from longmatch.encoders.pretrained import locate
from longmatch.lab.baselines.cross.config import CrossConfig

SPECIALS = 3  # [CLS] a [SEP] b [SEP]


@dataclass
class CrossOutput(ModelOutput):  # type: ignore[misc]
    """What is made of pairs; both are always there.

    - logits: (pairs, 2), the second class is that of documents that belong together;
    - vectors: (pairs, width), what the classes are told by.
    """

    logits: Tensor = None  # type: ignore[assignment]
    vectors: Tensor = None  # type: ignore[assignment]


class CrossModel(PreTrainedModel):  # type: ignore[misc]
    """Any BERT-like encoder; the state of the start token through a dense layer and tanh; a layer to two classes."""

    config_class = CrossConfig
    base_model_prefix = "cross"

    def __init__(self, config: CrossConfig) -> None:
        super().__init__(config)
        inner = config.backbone_config()
        self.backbone = AutoModel.from_config(inner)
        if getattr(self.backbone, "pooler", None) is not None:
            self.backbone.pooler = None  # the dense layer below is in its place
        self.pooler = nn.Linear(inner.hidden_size, inner.hidden_size)
        self.dropout = nn.Dropout(config.dropout)
        self.classifier = nn.Linear(inner.hidden_size, 2)
        self.has_types = int(getattr(inner, "type_vocab_size", 0) or 0) > 1
        self.post_init()

    @classmethod
    def from_backbone(cls, name: str | None = None, **settings: Any) -> Self:
        """A new model around a pretrained backbone, by folder or hub id; the packaged MiniLM by default.

        The dense layer begins as the backbone's own pooler, where it has one.
        """
        backbone = AutoModel.from_pretrained(locate(name), dtype=torch.float32)
        model = cls(cls.config_class(backbone=backbone.config.to_dict(), **settings))
        model.backbone.load_state_dict(backbone.state_dict(), strict=False)
        dense = getattr(getattr(backbone, "pooler", None), "dense", None)
        if dense is not None:
            model.pooler.load_state_dict(dense.state_dict())
        return model

    @property
    def width(self) -> int:
        """Numbers in a pair's vector."""
        return int(self.pooler.out_features)

    @property
    def side_limit(self) -> int:
        """The most tokens read of each document: as configured, or half of what the backbone reads at once."""
        places, wanted = max_positions(self.backbone), int(self.config.side_tokens)
        return wanted if places is None else min(wanted, (places - SPECIALS) // 2)

    def forward(self, ids: Tensor, mask: Tensor, types: Tensor, **unused: Any) -> CrossOutput:
        """Read pairs (pairs, tokens); `types` is 1 for the tokens of the second document."""
        vectors = self.pooled(ids, mask, types)
        return CrossOutput(logits=self.classify(vectors), vectors=vectors)

    def pooled(self, ids: Tensor, mask: Tensor, types: Tensor) -> Tensor:
        """One vector a pair: (pairs, width)."""
        hidden = self._last(ids, mask, types)
        with torch.autocast(hidden.device.type, enabled=False):
            return torch.tanh(self.pooler(hidden[:, 0].to(self.pooler.weight.dtype)))

    def classify(self, vectors: Tensor) -> Tensor:
        """(pairs, width) -> (pairs, 2), in full precision."""
        with torch.autocast(vectors.device.type, enabled=False):
            logits: Tensor = self.classifier(self.dropout(vectors))
            return logits

    @property
    def joined_views(self) -> int:
        """So many views of a pair become one vector before it is classified; 1: each has a score of its own."""
        return 1

    def shares(self, views: Tensor) -> Tensor:
        """What each view counts for in its pair's vector: (pairs, views, width) -> (pairs, views, 1 or width)."""
        return views.new_full((*views.shape[:2], 1), 1 / views.shape[1])

    def states(self, ids: Tensor, mask: Tensor, types: Tensor) -> Tensor:
        """What the backbone makes of each token, the mean over its layers: (pairs, tokens, width)."""
        found = self.backbone(**self._inputs(ids, mask, types), output_hidden_states=True).hidden_states
        return torch.stack([layer.float() for layer in found]).mean(0)

    def _last(self, ids: Tensor, mask: Tensor, types: Tensor) -> Tensor:
        """The last layer's states, that of the start token first: (pairs, tokens, width)."""
        hidden: Tensor = self.backbone(**self._inputs(ids, mask, types)).last_hidden_state
        return hidden

    def _inputs(self, ids: Tensor, mask: Tensor, types: Tensor) -> dict[str, Tensor]:
        told = {"token_type_ids": types.long()} if self.has_types else {}
        return {"input_ids": ids, "attention_mask": mask.long(), **told}
