"""How Match-Ignition and OPT-Match learn: as the cross-encoder, which reads the sentences that each selects."""

from dataclasses import dataclass
from typing import Any, ClassVar

from longmatch.errors import LongmatchError
from longmatch.lab.baselines.cross.encoder import CrossModel
from longmatch.lab.baselines.cross.training import CrossRecipe, CrossSettings
from longmatch.lab.baselines.filtering.matcher import (
    CarriedSentences,
    CentralSentences,
    IgnitionModel,
    TransportModel,
    carried,
    central,
)
from longmatch.lab.training.limits import at_least


@dataclass(frozen=True)
class IgnitionSettings(CrossSettings):
    """What Match-Ignition knows beside the settings of the cross-encoder."""

    sentences: int | None = None  # read of each document; by default as many as fit
    word_filter: bool = True  # each layer of the network drops its least central words
    words_kept: float = 0.9  # the share of words that a layer hands on to the next

    def __post_init__(self) -> None:
        super().__post_init__()
        at_least(self, sentences=1)
        if not 0 < self.words_kept <= 1:
            raise LongmatchError(f"The setting words_kept is {self.words_kept}; it must be above 0 and 1 at most.")

    def model(self, max_tokens: int | None) -> dict[str, Any]:
        """The settings that are the model's own."""
        facts = {"max_sentences": self.sentences, "word_filter": self.word_filter, "words_kept": self.words_kept}
        return super().model(max_tokens) | facts


class IgnitionRecipe(CrossRecipe):
    """Sentences are selected by PageRank, and the words of these layer by layer as they are read."""

    name: ClassVar[str] = "match-ignition"
    Settings: ClassVar[type] = IgnitionSettings
    Model: ClassVar[type[CrossModel]] = IgnitionModel

    def _selection(self) -> CentralSentences:
        return central(self.tokenizer, self.model.config)


@dataclass(frozen=True)
class TransportSettings(CrossSettings):
    """What OPT-Match knows beside the settings of the cross-encoder."""

    share: float = 0.5  # of the shorter document's sentences, carried over

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 < self.share <= 1:
            raise LongmatchError(f"The setting share is {self.share}; it must be above 0 and 1 at most.")

    def model(self, max_tokens: int | None) -> dict[str, Any]:
        """The settings that are the model's own."""
        return super().model(max_tokens) | {"share": self.share}


class TransportRecipe(CrossRecipe):
    """Sentences are selected by partial optimal transport."""

    name: ClassVar[str] = "opt-match"
    Settings: ClassVar[type] = TransportSettings
    Model: ClassVar[type[CrossModel]] = TransportModel

    def _selection(self) -> CarriedSentences:
        return carried(self.tokenizer, self.model.config)
