"""The background statistics shipped with longmatch: what is common in text in general.

`longmatch train default` makes them; they hold no text.
"""

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from safetensors.numpy import load, save

from longmatch.default.calibration import Calibration
from longmatch.default.probability import Probability
from longmatch.default.unrelated import Prior
from longmatch.encoders.pretrained import DEFAULT_NAME, locate
from longmatch.errors import LongmatchError
from longmatch.lexical.background import TermBackground, shipped_background
from longmatch.matching.chance import Background
from longmatch.ragged import unit_rows

if TYPE_CHECKING:
    from longmatch.encoders.backbone import Backbone

FOLDER = Path(__file__).parent / "data"
SENTENCES = "sentences.safetensors"  # vectors of unrelated sentences by the packaged backbone
CALIBRATION = "calibration.json"
PROBABILITY = "probability.json"
UNRELATED = "unrelated.json"


@dataclass(frozen=True)
class Statistics:
    """How common terms are, vectors of unrelated sentences, and what weighs the sides."""

    terms: TermBackground
    sentences: Background
    calibration: Calibration
    probability: Probability
    prior: Prior


@cache
def read_background(path: Path) -> Background:
    """Vectors of unrelated sentences, from a file."""
    return background_from_bytes(path.read_bytes())


def background_from_bytes(content: bytes) -> Background:
    """What `background_to_bytes` made."""
    tensors = load(content)
    kinds = int(tensors["kinds"]) if "kinds" in tensors else 1
    return Background(unit_rows(tensors["vectors"].astype(np.float32)), kinds)


def background_to_bytes(background: Background) -> bytes:
    """To be kept, in half precision."""
    return save({"vectors": background.vectors.astype(np.float16), "kinds": np.array(background.kinds)})


def shipped_statistics() -> Statistics:
    """The statistics of the default matcher."""
    return _statistics(read_background(FOLDER / SENTENCES))


def background_of(backbone: "Backbone") -> Background | None:
    """Vectors of unrelated sentences by this very backbone: available for the packaged one, unadapted."""
    is_packaged = backbone.name in (DEFAULT_NAME, locate(None)) and not backbone.change
    return read_background(FOLDER / SENTENCES) if is_packaged else None


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
    return Statistics(shipped_background(), background, *_weighing())


@cache
def _weighing() -> tuple[Calibration, Probability, Prior]:
    return (
        Calibration.read(FOLDER / CALIBRATION),
        Probability.read(FOLDER / PROBABILITY),
        Prior.read(FOLDER / UNRELATED),
    )
