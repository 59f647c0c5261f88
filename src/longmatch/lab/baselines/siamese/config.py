"""The configuration that all siamese baselines share."""

from typing import Any

from transformers import PretrainedConfig


class VectorConfig(PretrainedConfig):  # type: ignore[misc]
    """Base configuration of the models with one vector per document.

    - `max_tokens`: tokens read of a document; None reads all of it;
    - `sentence_tokens`: longer sentences are split, so that text without full stops does not become one endless
      sentence;
    - `scale` and `middle`: initial values of these weights: a pair's probability is sigmoid(scale * (cosine - middle));
    - `threshold`: the cosine from which a pair counts as a match, chosen on validation pairs.
    """

    def __init__(
        self,
        max_tokens: int | None = None,
        sentence_tokens: int = 128,
        scale: float = 10.0,
        middle: float = 0.5,
        threshold: float | None = None,
        **others: Any,
    ) -> None:
        self.max_tokens, self.sentence_tokens = max_tokens, sentence_tokens
        self.scale, self.middle, self.threshold = scale, middle, threshold
        super().__init__(**others)
