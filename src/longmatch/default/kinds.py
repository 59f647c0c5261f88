"""Whether documents are of a kind of text that longmatch knows, so that it can say what chance gives two of them.

Authors of one kind of text use the commonest words alike: judgments have more of "that", papers of "we". Seen from the
middle of their own kind, two documents that have nothing to do with each other deviate from it each in a direction of
its own; seen from another kind's, they deviate in the same one. So two documents are of a kind if both lie within its
range and do not deviate from it together. That tells a kind apart from one that nobody has shown to longmatch, too.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np
import numpy.typing as npt
from safetensors.numpy import load_file, save_file

from longmatch.lexical.terms import Counts, Flags, Hashes, lookup
from longmatch.ragged import unit_rows

Floats = npt.NDArray[np.float64]

ONE_MORE = 0.375  # added to each count before its square root is taken, whose spread then hardly depends on the count


@dataclass(frozen=True)
class Style:
    """How often documents of a kind have each of the commonest words, how that varies, and how far."""

    lengths: Floats  # logarithms of the words of short and of long documents, between which they are measured
    usual: Floats  # (3, words): usual frequencies, as they move with the length
    scaling: Floats  # (words, words): what makes deviations independent of each other, and of spread 1
    range: Floats  # (1,): the deviation up to which a document is of the kind
    together: Floats  # (1,): the cosine of two deviations up to which they are each document's own

    def deviations(self, frequencies: Floats, words: Floats) -> Floats:
        """Of documents from the middle of the kind: (documents, words)."""
        return np.asarray((frequencies - by_length(words, self.lengths) @ self.usual) @ self.scaling)

    def of_kind(self, frequencies: Floats, words: Floats) -> Flags:
        """Which two of some documents are of the kind: (documents, documents)."""
        deviations = self.deviations(frequencies, words)
        within = np.linalg.norm(deviations, axis=1) <= self.range
        directions = unit_rows(deviations)
        return np.asarray(within[:, None] & within & (directions @ directions.T <= self.together))


@dataclass(frozen=True)
class Kinds:
    """The styles of some kinds of text, in the frequencies of some words."""

    words: Hashes  # sorted
    styles: Mapping[str, Style]

    def known(self, documents: Sequence[Counts]) -> float:
        """The share of the pairs of documents, given by their words, whose kind is known; 1 where there is no pair."""
        first, second = np.triu_indices(len(documents), 1)
        if not len(first):
            return 1.0
        frequencies, words = root_frequencies(self.words, documents)
        found = [style.of_kind(frequencies, words)[first, second] for style in self.styles.values()]
        return float(np.any(found, axis=0).mean()) if found else 0.0

    def write(self, path: Path) -> None:
        """Write as safetensors."""
        table: dict[str, npt.NDArray[np.generic]] = {"words": self.words.view(np.int64)}
        for name, style in self.styles.items():
            table |= {f"{name}.{field}": value.astype(np.float32) for field, value in vars(style).items()}
        save_file(table, path)

    @staticmethod
    def read(path: Path) -> "Kinds":
        """Read what `write` wrote."""
        table = load_file(path)
        names = dict.fromkeys(key.rpartition(".")[0] for key in sorted(table) if "." in key)
        styles = {
            name: Style(**{field.name: table[f"{name}.{field.name}"].astype(np.float64) for field in fields(Style)})
            for name in names
        }
        return Kinds(table["words"].view(np.uint64), styles)


def root_frequencies(words: Hashes, documents: Sequence[Counts]) -> tuple[Floats, Floats]:
    """The square roots of the frequencies of some sorted words in documents, and the documents' numbers of words."""
    totals = np.array([float(counts.counts.sum()) for counts in documents])
    roots = np.empty((len(documents), len(words)))
    for row, counts in zip(roots, documents, strict=True):
        position, present = lookup(counts.ids, words)
        row[:] = ONE_MORE
        row[present] += counts.counts[position[present]]
    return np.sqrt(roots / np.maximum(totals, 1.0)[:, None]), totals


def by_length(words: Floats, lengths: Floats) -> Floats:
    """What the usual frequency of a word moves with: 1, the length's logarithm, and the noise of short documents."""
    logs = np.clip(np.log(np.maximum(words, 1.0)), *lengths)
    return np.stack([np.ones(len(logs)), logs, np.exp(-logs / 2)], axis=1)
