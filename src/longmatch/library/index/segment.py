"""A part of the index that never changes: some documents, what their terms are, and in how many each term occurs.

A removal is a segment too: one without documents, whose frequencies are negative. So merging segments is adding them.
"""

import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from longmatch.lexical.mentions import TITLE_TERMS
from longmatch.lexical.terms import KINDS, Hashes, lookup
from longmatch.library.index.terms import Floats, Occurrences, QueryTerms

Array = npt.NDArray[Any]
Columns = Mapping[str, Array]

DTYPES = {
    "means": "float32",  # (documents, width)
    "titles": "uint64",  # (documents, terms by which texts name it)
    "lengths": "int64",  # running words
    "familiar": "int64",  # running words that the background knows
    **{f"{kind}.norms": "float32" for kind in KINDS},
    **{f"{kind}.terms": "uint64" for kind in KINDS},  # every term, in rising order ...
    **{f"{kind}.frequencies": "int32" for kind in KINDS},  # ... and in how many documents it occurs
    **{f"{kind}.kept": "uint64" for kind in KINDS},  # the terms that are among a document's heaviest ...
    **{f"{kind}.starts": "int32" for kind in KINDS},  # ... where each one's documents begin, and the end
    **{f"{kind}.documents": "int32" for kind in KINDS},
    **{f"{kind}.weights": "float32" for kind in KINDS},  # 1 + ln tf
}
PER_DOCUMENT = ("means", "titles", "lengths", "familiar", *(f"{kind}.norms" for kind in KINDS))


@dataclass(frozen=True)
class Segment:
    """An opened segment; its arrays are mapped from disk."""

    folder: Path
    ids: tuple[str, ...]
    hashes: tuple[str, ...]

    @staticmethod
    def open(folder: Path) -> "Segment":
        """Open a segment; OSError or ValueError where it is not whole."""
        facts = json.loads((folder / "segment.json").read_text(encoding="utf-8"))
        for name, size in facts["sizes"].items():
            if (folder / name).stat().st_size != size:
                raise ValueError(f"{folder / name} is cut short")
        return Segment(folder, tuple(facts["ids"]), tuple(facts["hashes"]))

    def __len__(self) -> int:
        return len(self.ids)

    def __getitem__(self, name: str) -> Array:
        return self._arrays[name]

    @cached_property
    def _arrays(self) -> dict[str, Array]:
        found = {name: _mapped(self.folder / name, dtype) for name, dtype in DTYPES.items()}
        found["means"] = found["means"].reshape(len(self), -1) if len(self) else found["means"].reshape(0, 0)
        found["titles"] = found["titles"].reshape(len(self), TITLE_TERMS)
        return found

    def frequencies(self, kind: str, terms: Hashes) -> Floats:
        """In how many of the segment's documents each term occurs."""
        position, present = lookup(self[f"{kind}.terms"], terms)
        counts = np.zeros(len(terms))
        counts[present] = self[f"{kind}.frequencies"][position[present]]
        return counts

    def scores(self, kind: str, query: QueryTerms) -> Floats:
        """The cosine of a query with every document, from the documents' heaviest terms alone."""
        position, present = lookup(self[f"{kind}.kept"], query.ids)
        if not present.any():
            return np.zeros(len(self))
        rows = self.postings(kind)[position[present]]
        norms = self[f"{kind}.norms"]
        mass = rows.T @ (query.idf * query.weights)[present].astype(np.float32)
        return np.asarray(mass / np.where(norms > 0, norms, 1.0), dtype=np.float64)

    def postings(self, kind: str) -> sp.csr_array:
        """How heavy each of the terms kept is in each document: (terms, documents)."""
        parts = tuple(self[f"{kind}.{part}"] for part in ("weights", "documents", "starts"))
        return sp.csr_array(parts, shape=(len(parts[2]) - 1, len(self)), copy=False)


def _mapped(path: Path, dtype: str) -> Array:
    if not path.stat().st_size:
        return np.empty(0, dtype)
    return np.memmap(path, dtype=dtype, mode="r")


def write_segment(folder: Path, ids: Sequence[str], hashes: Sequence[str], columns: Columns) -> Segment:
    """Write a segment whose arrays are at hand."""
    folder.mkdir(parents=True)
    for name, dtype in DTYPES.items():
        np.ascontiguousarray(columns[name], dtype=dtype).tofile(folder / name)
    return seal(folder, ids, hashes)


def seal(folder: Path, ids: Sequence[str], hashes: Sequence[str]) -> Segment:
    """Note what a folder of arrays holds: with that it is a segment."""
    sizes = {name: (folder / name).stat().st_size for name in DTYPES}
    facts = {"ids": list(ids), "hashes": list(hashes), "sizes": sizes}
    (folder / "segment.json").write_text(json.dumps(facts), encoding="utf-8")
    return Segment.open(folder)


def drop_segment(segment: Segment) -> None:
    """Remove a segment's files; readers that have them open go on."""
    shutil.rmtree(segment.folder, ignore_errors=True)


def frequency_columns(kind: str, found: Occurrences, sign: int = 1) -> dict[str, Array]:
    """The columns that say in how many documents each term occurs."""
    terms, counts = np.unique(found.term, return_counts=True)
    return {f"{kind}.terms": terms, f"{kind}.frequencies": sign * counts}


def posting_columns(kind: str, found: Occurrences, kept: npt.NDArray[np.bool_]) -> dict[str, Array]:
    """The columns that say which documents have a term among their heaviest."""
    term, document, weight = found.term[kept], found.document[kept], found.frequency[kept]
    order = np.argsort(term, kind="stable")
    terms, counts = np.unique(term, return_counts=True)
    return {
        f"{kind}.kept": terms,
        f"{kind}.starts": np.concatenate([[0], np.cumsum(counts)]),
        f"{kind}.documents": document[order],
        f"{kind}.weights": weight[order],
    }


def empty_postings(kind: str) -> dict[str, Array]:
    """The same columns for no documents."""
    names = ("kept", "documents", "weights")
    return {f"{kind}.starts": np.zeros(1, np.int32)} | {f"{kind}.{name}": np.empty(0) for name in names}
