"""The cross-encoder's settings."""

from typing import Any, Literal

from transformers import AutoConfig, PretrainedConfig

Pool = Literal["max", "mean", "by-task"]


class CrossConfig(PretrainedConfig):  # type: ignore[misc]
    """What a network that reads two documents together is made of, and how much of them it reads.

    - `backbone`: the settings of a BERT-like encoder;
    - `side_tokens`: read of each document; fewer where the backbone has no places for two such sides;
    - `dropout`: of the pooled vector before the two classes;
    - `views`: readings of a pair at inference, each of another selection, and how their scores become one: `pool` takes
      the largest or the mean (SST equations 11 and 12), or by task: the largest to tell whether documents belong
      together, the mean to rank them; `seed` is what they are drawn from;
    - `threshold`: the score from which two documents belong together, chosen on validation pairs.
    """

    model_type = "longmatch-cross"

    def __init__(
        self,
        backbone: dict[str, Any] | None = None,
        side_tokens: int = 256,
        dropout: float = 0.1,
        views: int = 1,
        pool: Pool = "max",
        seed: int = 0,
        threshold: float | None = None,
        **others: Any,
    ) -> None:
        self.backbone = backbone
        self.side_tokens, self.dropout = side_tokens, dropout
        self.views, self.pool, self.seed = views, pool, seed
        self.threshold = threshold
        super().__init__(**others)

    def backbone_config(self) -> PretrainedConfig:
        """The backbone's own settings."""
        facts = dict(self.backbone or {})
        return AutoConfig.for_model(facts.pop("model_type", "bert"), **facts)
