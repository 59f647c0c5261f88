"""The background statistics shipped with longmatch: what is common in text in general.

`scripts/make_background.py` makes them from free encyclopedia text; they hold no text themselves.
"""

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import load_file

from longmatch.matching.calibration import Calibration
from longmatch.matching.chance import Background
from longmatch.models.lexical.frequencies import Frequencies

FOLDER = Path(__file__).parent / "statistics"


@dataclass(frozen=True)
class Statistics:
    """Document frequencies of words and phrases, vectors of unrelated sentences, and the calibration."""

    words: Frequencies
    phrases: Frequencies
    sentences: Background
    calibration: Calibration


@cache
def shipped_statistics(folder: Path = FOLDER) -> Statistics:
    """The statistics inside the package."""
    facts = json.loads((folder / "statistics.json").read_text(encoding="utf-8"))
    tensors = load_file(folder / "frequencies.safetensors")
    vectors = load_file(folder / "sentences.safetensors")["vectors"].float()

    def frequencies(name: str) -> Frequencies:
        ids = tensors[f"{name}.ids"].numpy().view(np.uint64)
        return Frequencies(facts["documents"], ids, tensors[f"{name}.counts"].numpy().astype(np.float64))

    calibration = Calibration(facts["chance"], facts["spread"], facts["half"])
    background = Background(torch.nn.functional.normalize(vectors, dim=1))
    return Statistics(frequencies("words"), frequencies("phrases"), background, calibration)
