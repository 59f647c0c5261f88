"""An immutable part of the index: some documents, their terms and postings, and the terms' document frequencies.

A removal is a segment without documents and with negative frequencies, so that merging segments means adding them up.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from longmatch.default.encoding import Encoding
from longmatch.lexical.mentions import TITLE_TERMS
from longmatch.lexical.terms import KINDS, Counts, Hashes, Ints, Kind, TermTable, lookup, narrowed, widened
from longmatch.lexical.weights import Postings, QueryTerms, log_tf
from longmatch.library.checksums import checksum, from_checked_json, to_checked_json
from longmatch.library.index.records import FIELDS, Record, link, record_files
from longmatch.library.rows import OpenMeaning, VectorType
from longmatch.ragged import Floats, offsets_of, ranges

Array = npt.NDArray[Any]
Columns = Mapping[str, Array]

TITLE_WORDS = "title_words"
HELD = (*KINDS, TITLE_WORDS)
"""What is held of every document: its distinct terms and how often it has each."""

WIDTHS: Mapping[Kind, str] = {"words": "uint64", "phrases": "uint32"}
"""Of terms as they are stored: half of a phrase's bits says the other half."""

DTYPES = {
    "means": "float32",  # (documents, width)
    "title_vectors": "float16",  # (documents, width); zeros for no title
    "means.norms": "float32",  # how far each lies from the centre of the collection's space
    "titles": "uint64",  # (documents, TITLE_TERMS): hashed title terms
    "languages": "uint16",  # two letters
    "lengths": "int64",  # running words
    "familiar": "int64",  # running words of a language that the backbone knows
    "known": "int64",  # running words that the background text has
    "records": "int64",  # (documents, FIELDS): where the document's record is
    **{f"{kind}.norms": "float32" for kind in KINDS},
    **{f"{kind}.terms": width for kind, width in WIDTHS.items()},  # every term, ascending ...
    **{f"{kind}.frequencies": "" for kind in KINDS},  # ... and its document frequency; the narrowest signed integers
    **{f"{kind}.kept": width for kind, width in WIDTHS.items()},  # terms with postings, ascending ...
    **{f"{kind}.starts": "uint32" for kind in KINDS},  # ... and the offsets of their postings, and the end
    **{f"{kind}.documents": "int32" for kind in KINDS},
    **{f"{kind}.weights": "float32" for kind in KINDS},  # 1 + ln tf
    **{f"{kind}.held": "uint32" for kind in KINDS},  # each document's terms, ascending: their positions in `terms`
    f"{TITLE_WORDS}.held": "uint64",  # the hashes themselves
    **{f"{name}.counts": "" for name in HELD},  # how often; the narrowest integers that can say it
    **{f"{name}.offsets": "int64" for name in HELD},  # of each document's terms, and the end
}
VECTORS = ("means", "title_vectors")
NORMS = ("means.norms", *(f"{kind}.norms" for kind in KINDS))
PER_DOCUMENT = (*VECTORS, *NORMS, "titles", "languages", "lengths", "familiar", "known")
"""Columns that are merged by stringing them together; records move when they are."""
MANY = 10_000  # documents: from there on SciPy, which sums postings four times as fast, is worth the time to load it
SMALL = 1 << 16  # bytes
LONG_RUN = 100  # entries: longer runs are copied faster one by one than by the positions of all their entries


@dataclass(frozen=True)
class Occurrences:
    """How often each document holds each of its terms: three columns, sorted by document, then term."""

    documents: int
    document: Ints
    term: Hashes
    count: Ints

    @staticmethod
    def of(counts: Sequence[Counts]) -> "Occurrences":
        """Of some documents' counts."""
        document = np.repeat(np.arange(len(counts)), [len(c.ids) for c in counts])
        terms = np.concatenate([c.ids for c in counts]) if counts else np.empty(0, np.uint64)
        numbers = np.concatenate([c.counts for c in counts]) if counts else np.empty(0, np.int64)
        return Occurrences(len(counts), document, terms, numbers)

    @cached_property
    def distinct(self) -> tuple[Hashes, Ints]:
        """The distinct terms of all documents, ascending, and the position of each row's term among them."""
        terms, position = np.unique(self.term, return_inverse=True)
        return terms, position

    @property
    def frequency(self) -> Floats:
        """1 + ln tf."""
        return log_tf(self.count)

    def norms(self, idf: Floats) -> Floats:
        """The length of each document's vector of TF-IDF weights; `idf` is that of each row's term."""
        return np.sqrt(np.bincount(self.document, (self.frequency * idf) ** 2, self.documents))

    def heaviest(self, idf: Floats, most: int) -> npt.NDArray[np.bool_]:
        """Which rows are among the `most` of their document with the largest weight; ties go to the smaller hash."""
        order = np.lexsort((self.term, -(self.frequency * idf), self.document))
        starts = np.searchsorted(self.document, np.arange(self.documents))
        rank = np.arange(len(order)) - starts[self.document[order]]
        kept = np.zeros(len(order), dtype=bool)
        kept[order[rank < most]] = True
        return kept


@dataclass(frozen=True)
class Segment:
    """An open segment. All of its files are mapped when it is opened: they can be read even once they are removed."""

    folder: Path
    ids: tuple[str, ...]
    hashes: tuple[str, ...]
    checksums: Mapping[str, int] = field(compare=False, repr=False)  # of its files
    arrays: Mapping[str, Array] = field(compare=False, repr=False)  # by file: the columns, and records as bytes

    @staticmethod
    def open(folder: Path) -> "Segment":
        """Open a segment; raises OSError or ValueError if it is incomplete."""
        info = from_checked_json((folder / "segment.json").read_text(encoding="utf-8"))
        sizes = info["sizes"]
        for name, size in sizes.items():
            if (folder / name).stat().st_size != size:
                raise ValueError(f"{folder / name} is truncated")
        documents = len(info["ids"])
        arrays = {name: memory_map(folder / name, dtype) for name, dtype in DTYPES.items() if dtype}
        narrow = {f"{name}.counts": ("u", f"{name}.held") for name in HELD}
        for name, (sign, beside) in (narrow | {f"{k}.frequencies": ("i", f"{k}.terms") for k in KINDS}).items():
            path, entries = folder / name, max(1, len(arrays[beside]))
            arrays[name] = memory_map(path, f"{sign}{max(1, path.stat().st_size // entries)}")
        for name in VECTORS:
            arrays[name] = arrays[name].reshape(documents, -1) if documents else arrays[name].reshape(0, 0)
        arrays["titles"] = arrays["titles"].reshape(documents, TITLE_TERMS)
        arrays["records"] = arrays["records"].reshape(documents, len(FIELDS))
        arrays |= {name: memory_map(folder / name, "uint8") for name in sizes if name not in DTYPES}
        return Segment(folder, tuple(info["ids"]), tuple(info["hashes"]), info["checksums"], arrays)

    def __len__(self) -> int:
        return len(self.ids)

    def __getitem__(self, name: str) -> Array:
        return self.arrays[name]

    def encoding(
        self, document: int, vectors: VectorType = "none", meaning: OpenMeaning | None = None
    ) -> Encoding | None:
        """The encoding of a document, if it has a record: with vectors, or what opens what makes them from tokens."""
        fields = self["records"][document].tolist()
        if fields[0] < 0:
            return None
        record = Record.of(self.ids[document], self.arrays, fields, vectors)
        start, end = self["words.offsets"][document : document + 2]
        vocabulary = self["words.terms"][self["words.held"][start:end]]
        known = self["title_vectors"][document], self["means"][document]
        return record.encoding(vocabulary, *known, meaning)

    def occurrences(self, name: str, documents: Ints) -> Occurrences:
        """What some documents hold: their words, their phrases, or the words of their titles."""
        offsets = self[f"{name}.offsets"]
        first, last = offsets[documents], offsets[documents + 1]
        where = ranges(first, last)
        held = self[f"{name}.held"][where]
        terms = held if name == TITLE_WORDS else from_stored(name, self[f"{name}.terms"][held])
        numbers = np.repeat(np.arange(len(documents)), last - first)
        return Occurrences(len(documents), numbers, terms, self[f"{name}.counts"][where].astype(np.int64))

    def find(self, kind: str, wanted: Hashes, documents: Ints) -> Postings:
        """How often some documents hold the terms wanted: all of them, not only those with postings."""
        position, present = lookup(self[f"{kind}.terms"], to_stored(kind, wanted))
        offsets, held = self[f"{kind}.offsets"], self[f"{kind}.held"]
        first, last = offsets[documents], offsets[documents + 1]
        runs = np.concatenate([held[a:b] for a, b in zip(first.tolist(), last.tolist(), strict=True)])
        where, term = TermTable.of(position[present].astype(np.uint32)).find(runs)
        starts = offsets_of(last - first)
        document = np.searchsorted(starts, where, side="right") - 1
        count = self[f"{kind}.counts"][where + (first - starts[:-1])[document]]
        return Postings(document, np.flatnonzero(present)[term], count.astype(np.int64))

    def frequencies(self, kind: str, terms: Hashes) -> Floats:
        """In how many of the segment's documents each term occurs."""
        position, present = lookup(self[f"{kind}.terms"], to_stored(kind, terms))
        counts = np.zeros(len(terms))
        counts[present] = self[f"{kind}.frequencies"][position[present]]
        return counts

    def frequent(self, kind: str, count: float) -> Hashes:
        """The terms that at least so many of the segment's documents have."""
        often = np.flatnonzero(self[f"{kind}.frequencies"] >= count)
        return from_stored(kind, self[f"{kind}.terms"][often])

    def counted_terms(self, kind: str, document: int) -> tuple[Counts, Floats]:
        """The terms of a document, and in how many of the segment's documents each occurs."""
        start, end = self[f"{kind}.offsets"][document : document + 2]
        held, counts = self[f"{kind}.held"][start:end], self[f"{kind}.counts"][start:end].astype(np.int64)
        documents = self[f"{kind}.frequencies"][held].astype(np.float64)
        return Counts(from_stored(kind, self[f"{kind}.terms"][held]), counts), documents

    def scores(self, kind: str, query: QueryTerms) -> Floats:
        """The cosine of a query with every document, from the documents' heaviest terms alone."""
        position, present = lookup(self[f"{kind}.kept"], to_stored(kind, query.ids))
        if not present.any():
            return np.zeros(len(self))
        place, weights, norms = position[present], (query.idf * query.weights)[present], self[f"{kind}.norms"]
        if len(self) >= MANY:
            mass = weights.astype(np.float32) @ self.postings(kind, place)
        else:
            first, last = self.runs(kind, place)
            where = ranges(first, last)
            each = self[f"{kind}.weights"][where] * np.repeat(weights, last - first)
            mass = np.bincount(self[f"{kind}.documents"][where], each, len(self))
        return np.asarray(mass / np.where(norms > 0, norms, 1.0), dtype=np.float64)

    def runs(self, kind: str, place: Ints) -> tuple[Ints, Ints]:
        """Where the postings of some terms begin and end; `place` is that of each among the kept."""
        starts = self[f"{kind}.starts"]
        return starts[place].astype(np.int64), starts[place + 1].astype(np.int64)

    def postings(self, kind: str, place: Ints) -> Any:
        """The weights of some terms in each document, as a sparse matrix: (terms, documents).

        `place` is that of each term among the kept.
        """
        import scipy.sparse as sp

        first, last = self.runs(kind, place)
        weights, documents = (take_runs(self[f"{kind}.{part}"], first, last) for part in ("weights", "documents"))
        offsets = offsets_of(last - first)
        narrow = offsets.astype(sp.get_index_dtype(maxval=offsets[-1]))  # SciPy would widen the documents otherwise
        return sp.csr_array((weights, documents, narrow), shape=(len(place), len(self)))


def take_runs(values: Array, first: Ints, last: Ints) -> Array:
    """The values from each first up to each last, which is left out, one after another."""
    if (last - first).sum() <= LONG_RUN * len(first):
        return np.asarray(values[ranges(first, last)])
    return np.concatenate([values[a:b] for a, b in zip(first.tolist(), last.tolist(), strict=True)])


def memory_map(path: Path, dtype: str) -> Array:
    """The array in a file, read as far as it is used; a small one at once, as every map keeps its file open."""
    if path.stat().st_size > SMALL:
        return np.asarray(np.memmap(path, dtype=dtype, mode="r"))
    values = np.fromfile(path, dtype)
    values.flags.writeable = False
    return values


def write_array(file: BinaryIO, values: Array, dtype: str) -> None:
    """Write numbers to a file; raises OverflowError for those that the type cannot hold: NumPy would wrap around."""
    target = np.dtype(dtype or values.dtype)
    if not values.size:
        return
    if target.kind in "iu" and not np.can_cast(values.dtype, target):
        limits, least, most = np.iinfo(target), values.min(), values.max()
        if not (limits.min <= least and most <= limits.max):
            raise OverflowError(f"Numbers from {least} to {most} do not fit into {target}.")
    file.write(np.ascontiguousarray(values, dtype=target).data)  # `tofile` says nothing of a disk that is full


def write_segment(folder: Path, ids: Sequence[str], hashes: Sequence[str], columns: Columns) -> Segment:
    """Write a segment with these arrays; the records, if it has any, must be in its folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, dtype in DTYPES.items():
        with (folder / name).open("wb") as file:
            write_array(file, columns[name], dtype)
    return seal(folder, ids, hashes, {})


def with_columns(folder: Path, segment: Segment, columns: Columns) -> Segment:
    """The same segment with other values in some columns, as a new one that shares the files of all others."""
    folder.mkdir(parents=True)
    for name, values in segment.arrays.items():
        if name in columns:
            with (folder / name).open("wb") as file:
                write_array(file, columns[name], DTYPES[name])
        else:
            link(segment.folder / name, folder / name, values)
    known = {name: value for name, value in segment.checksums.items() if name not in columns}
    return seal(folder, segment.ids, segment.hashes, known)


def seal(folder: Path, ids: Sequence[str], hashes: Sequence[str], checksums: Mapping[str, int]) -> Segment:
    """Turn a folder of arrays into a segment by writing its `segment.json`; `checksums` are those known already."""
    names = (*DTYPES, *record_files(folder))
    sizes = {name: (folder / name).stat().st_size for name in names}
    sums = {name: checksums[name] if name in checksums else checksum(folder / name) for name in names}
    info = {"ids": list(ids), "hashes": list(hashes), "sizes": sizes, "checksums": sums}
    (folder / "segment.json").write_text(to_checked_json(info), encoding="utf-8")
    return Segment.open(folder)


def frequency_columns(kind: str, occurrences: Occurrences, sign: int = 1) -> dict[str, Array]:
    """The columns of document frequencies; `sign` is -1 for removed documents."""
    terms, position = occurrences.distinct
    frequencies = sign * np.bincount(position, minlength=len(terms))
    width = signed_width(int(np.abs(frequencies).max(initial=0)))
    return {f"{kind}.terms": to_stored(kind, terms), f"{kind}.frequencies": frequencies.astype(width)}


def signed_width(most: int) -> np.dtype[Any]:
    """The narrowest integers that hold numbers from -most to most."""
    return np.min_scalar_type(-max(1, most))


def to_stored(kind: str, terms: Hashes) -> Array:
    """Terms as a segment has them, in the same order."""
    return narrowed(terms) if kind == "phrases" else terms


def from_stored(kind: str, stored: Array) -> Hashes:
    """The terms that a segment has."""
    return widened(stored) if kind == "phrases" else np.asarray(stored)


def held_columns(name: str, occurrences: Occurrences) -> dict[str, Array]:
    """The columns of what documents hold; the words of titles need not be terms of the segment."""
    return {
        f"{name}.held": occurrences.term if name == TITLE_WORDS else occurrences.distinct[1],
        f"{name}.counts": occurrences.count.astype(np.min_scalar_type(occurrences.count.max(initial=0))),
        f"{name}.offsets": offsets_of(np.bincount(occurrences.document, minlength=occurrences.documents)),
    }
