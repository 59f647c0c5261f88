"""The background statistics shipped with longmatch: what is common in text in general.

`scripts/make_background.py` makes them from free encyclopedia text, and `scripts/train_default.py` those that go with
what the default's backbone has learnt; they hold no text themselves.
"""

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import torch
from safetensors.torch import load, save

from longmatch.default.calibration import Calibration
from longmatch.default.probability import Probability
from longmatch.encoders.pretrained import DEFAULT_NAME, file_digest, locate
from longmatch.errors import LongmatchError
from longmatch.lexical.background import shipped_frequencies
from longmatch.lexical.frequencies import Frequencies
from longmatch.lexical.terms import Kind
from longmatch.matching.chance import Background

if TYPE_CHECKING:
    from longmatch.encoders.backbone import Backbone

FOLDER = Path(__file__).parent / "data"
PLAIN = "sentences.safetensors"  # unrelated sentences by the packaged backbone as it is
CHANGE = "change.safetensors"  # what the default's backbone has learnt
CHANGED = "background.safetensors"  # unrelated sentences by the packaged backbone with that change
CALIBRATION = "calibration.json"
PROBABILITY = "probability.json"


@dataclass(frozen=True)
class Statistics:
    """Document frequencies of words and phrases, vectors of unrelated sentences, and what weighs the sides."""

    words: Frequencies
    phrases: Frequencies
    sentences: Background
    calibration: Calibration
    probability: Probability

    def frequencies(self, kind: Kind) -> Frequencies:
        """Those of words, or of phrases."""
        return self.words if kind == "words" else self.phrases


@cache
def read_background(path: Path) -> Background:
    """Vectors of unrelated sentences, from a file."""
    return background_from_bytes(path.read_bytes())


def background_from_bytes(content: bytes) -> Background:
    """What `background_to_bytes` made."""
    return Background(torch.nn.functional.normalize(load(content)["vectors"].float(), dim=1))


def background_to_bytes(background: Background) -> bytes:
    """To be kept, in half precision."""
    return save({"vectors": background.vectors.half().contiguous()})


def shipped_change() -> Path | None:
    """What the default's backbone has learnt, where it has."""
    path = FOLDER / CHANGE
    return path if path.is_file() else None


def shipped_statistics() -> Statistics:
    """The statistics of the default matcher."""
    return _statistics(read_background(FOLDER / (CHANGED if shipped_change() else PLAIN)))


def background_of(backbone: "Backbone") -> Background | None:
    """Vectors of unrelated sentences by this very backbone: known of the packaged one, as it is and as it ships."""
    if backbone.name not in (DEFAULT_NAME, locate(None)):
        return None
    if not backbone.change:
        return read_background(FOLDER / PLAIN)
    change = shipped_change()
    known = change is not None and file_digest(change).startswith(backbone.change)
    return read_background(FOLDER / CHANGED) if known else None


def statistics_of(backbone: "Backbone") -> Statistics:
    """The statistics that go with a backbone."""
    background = background_of(backbone)
    if background is None:
        raise LongmatchError(
            f"What unrelated sentences have in common is not known for the model {backbone.name}. "
            "Hand over statistics, or take sdr, which needs none."
        )
    return _statistics(background)


def _statistics(background: Background) -> Statistics:
    return Statistics(*shipped_frequencies(), background, *_weighing())


@cache
def _weighing() -> tuple[Calibration, Probability]:
    return Calibration.read(FOLDER / CALIBRATION), Probability.read(FOLDER / PROBABILITY)
