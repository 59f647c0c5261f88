"""Training of Match-Ignition and OPT-Match: as the cross-encoder, over the sentences that each selects."""

from dataclasses import dataclass
from typing import Any, ClassVar

from longmatch.lab.baselines.cross.encoder import CrossModel
from longmatch.lab.baselines.cross.training import CrossRecipe, CrossSettings
from longmatch.lab.baselines.filtering.matcher import (
    IgnitionModel,
    PageRankSelection,
    TransportModel,
    TransportSelection,
    pagerank_selection,
    transport_selection,
)
from longmatch.lab.training.limits import at_least, positive_share


@dataclass(frozen=True)
class IgnitionSettings(CrossSettings):
    """Match-Ignition's settings, in addition to the cross-encoder's."""

    sentences: int | None = None  # read per document; by default as many as fit
    word_filter: bool = True  # each layer of the network drops its least central words
    words_kept: float = 0.9  # the share of words that a layer passes on

    def __post_init__(self) -> None:
        super().__post_init__()
        at_least(self, sentences=1)
        positive_share(self, "words_kept")

    def model(self, max_tokens: int | None) -> dict[str, Any]:
        """The settings that go into the model's config."""
        own = {"max_sentences": self.sentences, "word_filter": self.word_filter, "words_kept": self.words_kept}
        return super().model(max_tokens) | own


class IgnitionRecipe(CrossRecipe):
    """Sentences are selected by PageRank, and their words are filtered layer by layer."""

    name: ClassVar[str] = "match-ignition"
    Settings: ClassVar[type] = IgnitionSettings
    Model: ClassVar[type[CrossModel]] = IgnitionModel

    def _selection(self) -> PageRankSelection:
        return pagerank_selection(self.tokenizer, self.model.config)


@dataclass(frozen=True)
class TransportSettings(CrossSettings):
    """OPT-Match's settings, in addition to the cross-encoder's."""

    share: float = 0.5  # of the shorter document's sentences that is transported

    def __post_init__(self) -> None:
        super().__post_init__()
        positive_share(self, "share")

    def model(self, max_tokens: int | None) -> dict[str, Any]:
        """The settings that go into the model's config."""
        return super().model(max_tokens) | {"share": self.share}


class TransportRecipe(CrossRecipe):
    """Sentences are selected by partial optimal transport."""

    name: ClassVar[str] = "opt-match"
    Settings: ClassVar[type] = TransportSettings
    Model: ClassVar[type[CrossModel]] = TransportModel

    def _selection(self) -> TransportSelection:
        return transport_selection(self.tokenizer, self.model.config)
