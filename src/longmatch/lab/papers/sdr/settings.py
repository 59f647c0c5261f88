"""SDR's settings: the defaults are for users, the paper's own values are a preset."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from longmatch.errors import LongmatchError
from longmatch.lab.training.limits import above_zero, at_least
from longmatch.models.sdr.score import Unit

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
    select_by: Literal["halves", "loss"] = (
        "halves"  # what the best weights are chosen by, the untrained ones among them
    )

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
