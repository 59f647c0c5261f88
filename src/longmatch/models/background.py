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

from longmatch.matching.calibration import Calibration, Chance
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
def shipped_tables() -> tuple[Frequencies, Frequencies, Background]:
    """Document frequencies of words and of phrases, and vectors of unrelated sentences."""
    table = load_file(FOLDER / "frequencies.safetensors")
    documents = float(table["documents"][0])

    def frequencies(name: str) -> Frequencies:
        ids, counts = table[f"{name}.ids"].numpy(), table[f"{name}.counts"].numpy()
        return Frequencies(documents, ids.view(np.uint64), counts.astype(np.float64))

    vectors = load_file(FOLDER / "sentences.safetensors")["vectors"].float()
    background = Background(torch.nn.functional.normalize(vectors, dim=1))
    return frequencies("words"), frequencies("phrases"), background


@cache
def shipped_statistics() -> Statistics:
    """The statistics inside the package."""
    facts = json.loads((FOLDER / "calibration.json").read_text(encoding="utf-8"))
    chance = {name: Chance(**line) for name, line in facts["chance"].items()}
    return Statistics(*shipped_tables(), Calibration(chance, facts["spread"], facts["half"]))
