"""Sentence vectors by a backbone that does not learn: made once for all steps and runs, and memory-mapped."""

import hashlib
from pathlib import Path

import numpy as np
from filelock import FileLock
from numpy.lib.format import open_memmap

from longmatch.encoders.backbone import Backbone, Vectors
from longmatch.lab.papers.sst.vectors import first_sentence_vectors
from longmatch.lab.store.shelf import TokenShelf
from longmatch.lab.training.data import TrainingData
from longmatch.units.tokens import Ints

TOGETHER = 256  # documents encoded at a time


class VectorShelf:
    """The vectors of the first sentences of documents on a shelf of tokens; in half precision, so half as large."""

    def __init__(self, path: Path, counts: Ints) -> None:
        self._vectors = np.load(path, mmap_mode="r")  # (sentences, width)
        self._offsets = np.concatenate([[0], counts.cumsum()])

    @classmethod
    def build(cls, cache: Path, shelf: TokenShelf, documents: Ints, backbone: Backbone, most: int) -> "VectorShelf":
        """Encode those documents' first `most` sentences into a file of `cache`, unless it is there already.

        Documents keep their numbers on the shelf of tokens; of those not asked for there are no vectors.
        """
        wanted = np.zeros(len(shelf), dtype=bool)
        wanted[documents] = True
        counts: Ints = np.where(wanted, np.minimum(shelf.sentence_counts, most), 0)
        facts = [shelf.folder.name, str(most), _digest(backbone), hashlib.sha256(wanted.tobytes()).hexdigest()]
        path = cache / f"vectors-{hashlib.sha256(' '.join(facts).encode()).hexdigest()[:16]}.npy"
        cache.mkdir(parents=True, exist_ok=True)
        with FileLock(path.with_suffix(".lock")):
            if not path.is_file():
                _write(path, shelf, np.flatnonzero(counts), int(counts.sum()), backbone, most)
        return cls(path, counts)

    @classmethod
    def of_pairs(cls, cache: Path, data: TrainingData, backbone: Backbone, most: int) -> "VectorShelf":
        """The same for all documents of the training and validation pairs."""
        pairs = [data.pairs("train"), data.pairs("validation")]
        numbers = np.unique(np.concatenate([side for table in pairs for side in (table.source, table.target)]))
        return cls.build(cache, data.shelf, numbers, backbone, most)

    def __getitem__(self, number: int) -> Vectors:
        """One document's: (sentences, width)."""
        first, last = self._offsets[number : number + 2]
        return np.asarray(self._vectors[first:last], dtype=np.float32)


def _write(path: Path, shelf: TokenShelf, documents: Ints, sentences: int, backbone: Backbone, most: int) -> None:
    partial = path.with_suffix(".partial")
    out = open_memmap(partial, "w+", np.float16, (sentences, backbone.width))
    start = 0
    for first in range(0, len(documents), TOGETHER):
        tokens = [shelf[number] for number in documents[first : first + TOGETHER].tolist()]
        for vectors in first_sentence_vectors(tokens, backbone, most):
            out[start : start + len(vectors)] = vectors
            start += len(vectors)
    out.flush()
    partial.replace(path)


def _digest(backbone: Backbone) -> str:
    """Of what its vectors depend on: the weights in their precision, and how tokens become one vector."""
    found = hashlib.sha256(f"{backbone.pooling} {backbone.runtime}".encode())
    for weights in backbone.model.parameters():
        found.update(weights.detach().float().cpu().numpy().tobytes())
    return found.hexdigest()
