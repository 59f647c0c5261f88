"""CoLDE's model settings; the defaults are the paper's (section 4.1.2). Training has its own (`ColdeSettings`)."""

from typing import Any, Literal

from transformers import AutoConfig, PretrainedConfig

Readout = Literal["last", "mean"]


class ColdeConfig(PretrainedConfig):  # type: ignore[misc]
    """The parts and sizes of a CoLDE model.

    The paper (TKDD 2023, section 4.1.2): two sections, chunks of 512 tokens, 4 attention heads, a bidirectional LSTM
    with 512 outputs, projection to 256, temperature 0.5. Where the paper is silent we chose: a chunk's vector is the
    mean of its token vectors; the last section has no successor, so attention adds nothing to it; chunks from position
    `max_chunks` on share the last chunk embedding. A `projection_width` of None means no projection.

    `readout` says how the chunks of a section, or of a document, become one vector: by the LSTM's `last` state in each
    direction, or by the `mean` of its outputs, weighted by the chunks' tokens. Without the LSTM, `last` is the plain
    mean of the chunk vectors and `mean` the weighted one. With `residual` the LSTM's summary is added to the mean of
    the chunk vectors, through a layer that starts at 0, and the projection starts orthogonal: an untrained model then
    ranks as its backbone does, and LSTM and attention learn what to change. The forget gates of the LSTM start with the
    bias `forget_bias`: with a positive one, early chunks reach the end of a long document.

    Ablations (section 4.5): `augmented=False` drops the sections and their embeddings (4.5.1, -Aug), `recurrent=False`
    replaces LSTM and attention by the mean of the chunk vectors (4.5.2, -LSTM), `contrastive=False` trains on the
    cosine of labelled pairs (4.5.3, -CL) and, as in the paper, drops the sections as well.
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
        projection_width: int | None = 256,
        loss_temperature: float = 0.5,
        readout: Readout = "last",
        forget_bias: float = 0.0,
        residual: bool = False,
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
        self.readout, self.forget_bias, self.residual = readout, forget_bias, residual
        self.augmented, self.recurrent, self.contrastive = augmented and contrastive, recurrent, contrastive
        self.threshold = threshold  # pairs with at least this score match; chosen on validation pairs
        super().__init__(**others)

    def backbone_config(self) -> PretrainedConfig:
        """The backbone's configuration."""
        settings = dict(self.backbone or {})
        return AutoConfig.for_model(settings.pop("model_type", "bert"), **settings)
