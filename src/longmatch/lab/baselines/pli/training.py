"""Training of BERT-PLI: as the cross-encoder, end to end."""

from dataclasses import dataclass
from typing import Any, ClassVar

from longmatch.lab.baselines.cross.encoder import CrossModel
from longmatch.lab.baselines.cross.training import CrossRecipe, CrossSettings
from longmatch.lab.baselines.pli.matcher import PliModel
from longmatch.lab.training.limits import at_least


@dataclass(frozen=True)
class PliSettings(CrossSettings):
    """BERT-PLI's settings, in addition to the cross-encoder's."""

    side_tokens: int = 768  # read of each document
    paragraph_tokens: int = 128  # per paragraph, at most half of the backbone's positions
    hidden: int = 256  # of the recurrent state

    def __post_init__(self) -> None:
        super().__post_init__()
        at_least(self, paragraph_tokens=1, hidden=1)

    def model(self, max_tokens: int | None) -> dict[str, Any]:
        """The settings that go into the model's config."""
        return super().model(max_tokens) | {"paragraph_tokens": self.paragraph_tokens, "hidden": self.hidden}


class PliRecipe(CrossRecipe):
    """Each paragraph is read once per paragraph of the other document; the token budget accounts for that."""

    name: ClassVar[str] = "bert-pli"
    Settings: ClassVar[type] = PliSettings
    Model: ClassVar[type[CrossModel]] = PliModel
    model: PliModel

    @property
    def tokens_per_pass(self) -> int:
        """Fewer than set: a paragraph is read once for each paragraph of the other document."""
        paragraphs = -(-self.model.side_limit // self.model.paragraph_limit)
        return max(1, super().tokens_per_pass // paragraphs)
