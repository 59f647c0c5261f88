"""CoLDE's settings, the paper's by default."""

from typing import Any

from transformers import AutoConfig, PretrainedConfig


class ColdeConfig(PretrainedConfig):  # type: ignore[misc]
    """What a CoLDE model is made of.

    The paper (TKDD 2023, section 4.1.2): two sections, chunks of 512 tokens, 4 attention heads, a bidirectional LSTM
    of output 512, projection to 256, temperature 0.5. Where it is silent we chose: a chunk's vector is the mean of its
    token vectors; the last section, which no section follows, takes nothing from attention; chunk numbers from
    `max_chunks` on share the last embedding.

    Ablations (section 4.6): `augmented=False` drops the sections and the extra embeddings (-Aug), `recurrent=False`
    takes the mean of the chunk vectors without attention (-LSTM), `contrastive=False` trains on the cosine of pairs
    (-CL) and, as there, drops the sections and extra embeddings too.
    """

    model_type = "longmatch-colde"

    def __init__(
        self,
        backbone: dict[str, Any] | None = None,
        sections: int = 2,
        chunk_tokens: int = 512,
        max_chunks: int = 64,
        attention_heads: int = 4,
        recurrent_width: int = 512,
        projection_width: int = 256,
        loss_temperature: float = 0.5,
        augmented: bool = True,
        recurrent: bool = True,
        contrastive: bool = True,
        threshold: float | None = None,
        **others: Any,
    ) -> None:
        self.backbone = backbone
        self.sections, self.chunk_tokens, self.max_chunks = sections, chunk_tokens, max_chunks
        self.attention_heads, self.recurrent_width = attention_heads, recurrent_width
        self.projection_width, self.loss_temperature = projection_width, loss_temperature
        self.augmented, self.recurrent, self.contrastive = augmented and contrastive, recurrent, contrastive
        self.threshold = threshold  # the score from which two documents belong together, chosen on validation pairs
        super().__init__(**others)

    def backbone_config(self) -> PretrainedConfig:
        """The backbone's own settings."""
        facts = dict(self.backbone or {})
        return AutoConfig.for_model(facts.pop("model_type", "bert"), **facts)
