"""In how many documents of free encyclopedia text words and phrases occur: numbers that ship with longmatch.

`longmatch train default` makes them; they hold no text.
"""

from functools import cache
from pathlib import Path

import numpy as np
from safetensors.numpy import load_file

from longmatch.lexical.frequencies import Frequencies

FREQUENCIES = "frequencies.safetensors"
FILE = Path(__file__).parent / "data" / FREQUENCIES


def shipped_frequencies() -> tuple[Frequencies, Frequencies]:
    """Document frequencies of words and of phrases."""
    return read_frequencies(FILE)


@cache
def read_frequencies(path: Path) -> tuple[Frequencies, Frequencies]:
    """Document frequencies of words and of phrases, from a file."""
    table = load_file(path)
    documents = float(table["documents"][0])

    def frequencies(name: str) -> Frequencies:
        ids, counts = table[f"{name}.ids"], table[f"{name}.counts"]
        return Frequencies(documents, ids.view(np.uint64), counts.astype(np.float64))

    return frequencies("words"), frequencies("phrases")
