"""The settings that all baselines share."""

from typing import Any

from transformers import PretrainedConfig


class VectorConfig(PretrainedConfig):  # type: ignore[misc]
    """What every model that makes one vector of a document knows.

    - `max_tokens`: the most that is read of a document; None reads all of it;
    - `sentence_tokens`: a sentence longer than this goes on as another one, so that text without full stops does not
      become one endless sentence;
    - `scale` and `middle`: where the learned ones begin: a pair's chance is sigmoid(scale * (cosine - middle));
    - `threshold`: the cosine from which two documents belong together, chosen on validation pairs.
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
