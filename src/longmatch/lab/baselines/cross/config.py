"""The cross-encoder's configuration."""

from typing import Any, Literal

from transformers import AutoConfig, PretrainedConfig

ViewPooling = Literal["max", "mean", "by-task"]
Readout = Literal["pooler", "fresh", "mean"]


class CrossConfig(PretrainedConfig):  # type: ignore[misc]
    """Configuration of a network that reads two documents together.

    - `backbone`: the configuration of a BERT-like encoder;
    - `side_tokens`: tokens read of each document; fewer if the backbone has too few positions for two such sides;
    - `readout`: what the dense layer before the classifier reads, and how it starts: the start token's state, from the
      backbone's own pooler (pooler) or from random weights (fresh); or the mean of all states, from random weights;
    - `dropout`: of the pooled vector before the classifier;
    - `views`: readings of a pair at inference, each with a different selection of sentences, sampled with `seed`;
    - `pool`: how their scores are combined: the maximum or the mean (SST equations 11 and 12), or by task: the maximum
      to classify, the mean to rank;
    - `threshold`: the score from which a pair counts as a match, chosen on validation pairs.
    """

    model_type = "longmatch-cross"

    def __init__(
        self,
        backbone: dict[str, Any] | None = None,
        side_tokens: int = 256,
        dropout: float = 0.1,
        views: int = 1,
        pool: ViewPooling = "max",
        seed: int = 0,
        threshold: float | None = None,
        readout: Readout = "pooler",
        **others: Any,
    ) -> None:
        self.backbone = backbone
        self.side_tokens, self.dropout = side_tokens, dropout
        self.views, self.pool, self.seed = views, pool, seed
        self.threshold, self.readout = threshold, readout
        super().__init__(**others)

    def backbone_config(self) -> PretrainedConfig:
        """The backbone's configuration."""
        facts = dict(self.backbone or {})
        return AutoConfig.for_model(facts.pop("model_type", "bert"), **facts)
