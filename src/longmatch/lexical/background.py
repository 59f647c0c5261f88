"""How common words and phrases are in texts of many kinds: numbers that ship with longmatch.

`longmatch train default` makes them; they hold no text.
"""

from dataclasses import dataclass
from functools import cache, cached_property
from hashlib import blake2b
from pathlib import Path

import numpy as np
import numpy.typing as npt
from safetensors.numpy import load_file, save_file

from longmatch.lexical.terms import KINDS, Flags, Hashes, Kind
from longmatch.lexical.weights import Frequencies

FREQUENCIES = "frequencies.safetensors"
COMMON = 0.5  # share of the documents of one kind
FILE = Path(__file__).parent / "data" / FREQUENCIES


@dataclass(frozen=True)
class TermBackground:
    """In how many documents terms occur, each counted in the kind of text that has it most.

    What every paper has is common, and so is what every judgment has, however rare both are elsewhere: two documents
    share it because they are of one kind.
    """

    words: Frequencies
    phrases: Frequencies
    everyday: Hashes  # words of much of general text, sorted
    foreign: Hashes  # words of languages that the packaged backbone does not know, sorted

    @cached_property
    def digest(self) -> str:
        """Identifies the frequencies."""
        parts = (self.words.ids, self.words.counts, self.phrases.ids, self.phrases.counts)
        return blake2b(b"".join(part.tobytes() for part in parts), digest_size=8).hexdigest()

    def frequencies(self, kind: Kind) -> Frequencies:
        """Those of words, or of phrases."""
        return self.words if kind == "words" else self.phrases

    def known(self, words: Hashes) -> Flags:
        """Which words occur in it."""
        return self.words(words) > 0

    def common(self, words: Hashes) -> Flags:
        """Which words say nothing by themselves, as half of the documents of some kind have them: "done", "results"."""
        return self.words.share(words) >= COMMON

    def familiar(self, words: Hashes) -> Flags:
        """Which words occur in it, in a language that the packaged backbone knows."""
        return self.known(words) & ~np.isin(words, self.foreign)

    def write(self, path: Path) -> None:
        """Write what `read_term_background` reads."""
        table: dict[str, npt.NDArray[np.generic]] = {"documents": np.array([self.words.documents])}
        signed = {"everyday": self.everyday, "foreign": self.foreign}
        for name, frequencies in (("words", self.words), ("phrases", self.phrases)):
            signed[f"{name}.ids"] = frequencies.ids
            table[f"{name}.counts"] = frequencies.counts.astype(np.int16)
        table |= {name: np.ascontiguousarray(ids).view(np.int64) for name, ids in signed.items()}
        save_file(table, path)


def shipped_background() -> TermBackground:
    """The background of the default matcher."""
    return read_term_background(FILE)


@cache
def read_term_background(path: Path) -> TermBackground:
    """What `TermBackground.write` wrote."""
    table = load_file(path)
    documents = float(table["documents"][0])
    hashes = {name: values.view(np.uint64) for name, values in table.items() if values.dtype == np.int64}
    words, phrases = (
        Frequencies(documents, hashes[f"{name}.ids"], table[f"{name}.counts"].astype(np.float64)) for name in KINDS
    )
    return TermBackground(words, phrases, hashes["everyday"], hashes["foreign"])
