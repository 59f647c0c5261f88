"""The index of a library: documents are added as segments and deleted by tombstones; small segments are merged.

The index can be rebuilt from the store. Its manifest names the store's version it covers and is replaced atomically: a
process killed at any moment leaves a consistent index, though perhaps one behind the store.
"""

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from uuid import uuid4

import numpy as np
import numpy.typing as npt

from longmatch.cache import replace_file
from longmatch.default.comparison import CountedTerms
from longmatch.default.rarity import Rarity, RunningWords
from longmatch.default.space import Space
from longmatch.default.statistics import Statistics
from longmatch.default.term_rarity import blend
from longmatch.default.unrelated import Known, Unrelated
from longmatch.lexical.mentions import TITLE_TERMS, stack_titles, title_terms
from longmatch.lexical.terms import KINDS, Kind, words_in
from longmatch.lexical.weights import Frequencies, TermBackground
from longmatch.library.checksums import CheckedFiles, from_checked_json, to_checked_json
from longmatch.library.index.merge import merge_segments
from longmatch.library.index.records import NO_RECORD, write_records
from longmatch.library.index.segment import (
    DTYPES,
    HELD,
    TITLE_WORDS,
    Array,
    Occurrences,
    Segment,
    frequency_columns,
    held_columns,
    to_stored,
    with_columns,
    write_segment,
)
from longmatch.library.index.selection import SegmentFrequencies, Selection
from longmatch.library.rows import INDEX_COLUMNS, RECORD_COLUMNS, DocumentRow, VectorType
from longmatch.library.settings import DEFAULTS, LibrarySettings
from longmatch.ragged import Floats, offsets_of

FORMAT = 11
MANIFEST = "manifest.json"
BATCH = 256  # documents whose terms are in memory at a time


@dataclass(frozen=True)
class Roster:
    """The documents of all segments in order, deleted ones included."""

    ids: npt.NDArray[np.object_]
    live: npt.NDArray[np.bool_]  # not deleted
    rows: Mapping[str, int]  # of the live documents, by id

    @staticmethod
    def of(segments: Sequence[Segment], deleted: Sequence[frozenset[int]]) -> "Roster":
        """The documents of `segments`; `deleted` are the numbers of each segment's deleted ones."""
        ids = np.array([id for segment in segments for id in segment.ids], dtype=object)
        live = np.ones(len(ids), dtype=bool)
        starts = np.cumsum([0, *(len(segment) for segment in segments)])
        for start, numbers in zip(starts[:-1].tolist(), deleted, strict=True):
            live[[start + number for number in numbers]] = False
        return Roster(ids, live, {str(ids[row]): row for row in np.flatnonzero(live).tolist()})


@dataclass
class Index:
    """Words and phrases of each document, their postings and document frequencies, vectors, titles and records."""

    folder: Path
    statistics: Statistics
    fingerprint: str  # of the statistics and the model, on which norms and vectors depend
    records: VectorType | None = None  # vectors in the records of documents added from now on; None for no records
    settings: LibrarySettings = DEFAULTS
    segments: list[Segment] = field(default_factory=list)
    deleted: list[frozenset[int]] = field(default_factory=list)  # numbers of each segment's deleted documents
    version: int = -1  # of the store
    stale: int = 0  # documents added or removed since the norms were computed
    unrelated: Unrelated | None = None  # what unrelated documents have in common, where random pairs were drawn
    space: Space | None = None  # of the documents' vectors, where it was measured
    scratch: TemporaryDirectory[str] | None = None  # around the folder of an index that nobody else reads
    _roster: tuple[object, Roster] | None = None  # with the segments and deletions it was made from
    _running: tuple[Roster, RunningWords] | None = None  # with the roster they were counted for
    _rarity: tuple[tuple[object, ...], Rarity] | None = None  # with what it was made from

    @classmethod
    def open(
        cls,
        folder: Path,
        statistics: Statistics,
        fingerprint: str,
        records: VectorType | None = None,
        settings: LibrarySettings = DEFAULTS,
        recheck: bool = False,
    ) -> "Index":
        """Open an index; an empty one if there is none, or none that is complete, intact and has this fingerprint.

        `recheck` files, too, that do not seem to have changed since they were checked long ago.
        """
        index = cls(folder, statistics, fingerprint, records, settings)
        text: str | None = None
        latest = _manifest(folder)
        while text != latest:  # else nobody has replaced it, and removed its segments, while they were opened
            text = latest
            try:
                manifest = from_checked_json(text)
                if manifest["format"] != FORMAT or manifest["background"] != fingerprint:
                    raise ValueError("made by another version or for another model")
                segments = [Segment.open(folder / name) for name in manifest["segments"]]
                if damaged := CheckedFiles(folder).damaged(_checksums(segments), recheck):
                    raise ValueError(f"{damaged[0]} is damaged")
                index.segments = segments
                index.deleted = [frozenset(numbers) for numbers in manifest["dead"]]
                index.version, index.stale = manifest["version"], manifest["stale"]
                drawn, space = manifest["unrelated"], manifest["space"]
                index.unrelated = Unrelated.from_dict(drawn) if drawn else None
                index.space = Space(np.array(space["centre"]), np.array(space["spread"])) if space else None
                return index
            except (OSError, ValueError, KeyError, TypeError):
                index = cls(folder, statistics, fingerprint, records, settings)
                latest = _manifest(folder)
        return index

    def save(self, version: int) -> None:
        """Write the manifest: the index covers this version of the store."""
        self.version = version
        manifest: dict[str, Any] = {
            "format": FORMAT,
            "background": self.fingerprint,
            "version": version,
            "stale": self.stale,
            "unrelated": self.unrelated.to_dict() if self.unrelated else None,
            "space": {name: x.tolist() for name, x in vars(self.space).items()} if self.space else None,
            "segments": [s.folder.name for s in self.segments],
            "dead": [sorted(numbers) for numbers in self.deleted],
        }
        self.folder.mkdir(parents=True, exist_ok=True)
        replace_file(self.folder / MANIFEST, to_checked_json(manifest).encode())
        CheckedFiles(self.folder).trust(_checksums(self.segments))
        for path in self.folder.iterdir():  # segments that a merge or a killed process left behind
            if path.is_dir() and path.name not in manifest["segments"]:  # those who have it open can still read it
                shutil.rmtree(path, ignore_errors=True)

    @property
    def roster(self) -> Roster:
        """Where each document is; cached until segments change."""
        key = tuple(s.folder for s in self.segments), tuple(self.deleted)
        if self._roster is None or self._roster[0] != key:
            self._roster = key, Roster.of(self.segments, self.deleted)
        return self._roster[1]

    def select(self, ids: Sequence[str]) -> Selection:
        """What the index holds of some documents; unknown ids are skipped."""
        row_of = self.roster.rows
        known = [id for id in ids if id in row_of]
        return Selection.of(known, np.array([row_of[id] for id in known], dtype=np.int64), self.segments)

    def __len__(self) -> int:
        return sum(len(s) for s in self.segments) - sum(map(len, self.deleted))

    @property
    def is_stale(self) -> bool:
        """Whether many documents came or went since the norms were computed, as where a process was killed."""
        return self.stale > self.settings.stale * len(self)

    def content_hashes(self) -> dict[str, str]:
        """The content hash of each live document, by id."""
        return {
            id: hash
            for segment, deleted in zip(self.segments, self.deleted, strict=True)
            for number, (id, hash) in enumerate(zip(segment.ids, segment.hashes, strict=True))
            if number not in deleted
        }

    @property
    def columns(self) -> list[str]:
        """The columns of the store that are needed to add documents."""
        recorded = RECORD_COLUMNS if self.records else ()
        return list(dict.fromkeys([*INDEX_COLUMNS, *recorded]))

    def add(self, rows: Sequence[DocumentRow]) -> None:
        """Add documents of the store as a segment."""
        folder = self._new_folder()
        columns, held = document_columns(rows, self.statistics.terms)
        columns["means.norms"] = self.rarity.space.distances(columns["means"])
        if self.records:
            columns["records"] = write_records(folder, rows, self.settings.record_bytes, self.records)
        else:
            columns["records"] = np.tile(NO_RECORD, (len(rows), 1))
        most = {"words": self.settings.heaviest_words, "phrases": self.settings.heaviest_phrases}
        for kind in KINDS:
            frequencies = columns[f"{kind}.frequencies"].astype(float)
            idf = self._idf(kind, held[kind], Frequencies(len(rows), held[kind].distinct[0], frequencies))
            columns[f"{kind}.norms"] = held[kind].norms(idf)
            posted = held[kind].heaviest(idf, most[kind])  # which occurrences get a posting
            term, document = held[kind].term[posted], held[kind].document[posted]
            order = np.argsort(term, kind="stable")
            kept, counts = np.unique(term, return_counts=True)
            columns |= {
                f"{kind}.kept": to_stored(kind, kept),
                f"{kind}.starts": offsets_of(counts),
                f"{kind}.documents": document[order],
                f"{kind}.weights": held[kind].frequency[posted][order],
            }
        hashes = [str(row.value("hash")) for row in rows]
        self._append(write_segment(folder, [row.id for row in rows], hashes, columns), len(rows))

    def remove(self, ids: Sequence[str]) -> None:
        """Delete documents and subtract their terms from the document frequencies; unknown ids are skipped."""
        for start in range(0, len(ids), BATCH):
            if len(removed := self.select(ids[start : start + BATCH])):
                starts = [*(f"{kind}.starts" for kind in KINDS), *(f"{name}.offsets" for name in HELD)]
                columns = {
                    name: np.zeros(1 if name in starts else 0, dtype or "uint8") for name, dtype in DTYPES.items()
                }
                for kind in KINDS:
                    columns |= frequency_columns(kind, removed.occurrences(kind), sign=-1)
                for part in removed.parts:
                    number = self.segments.index(part.segment)
                    self.deleted[number] = self.deleted[number].union(part.documents.tolist())
                self._append(write_segment(self._new_folder(), (), (), columns), len(removed))

    def _append(self, segment: Segment, changed: int) -> None:
        self.segments.append(segment)
        self.deleted.append(frozenset())
        self.stale += changed
        first = len(self.segments) - 1
        size = _size(segment)
        while first and _size(self.segments[first - 1]) < 2 * size:
            first -= 1
            size += _size(self.segments[first])
        if first < len(self.segments) - 1:
            self.merge(first)

    def merge(self, first: int = 0) -> None:
        """Merge the segments from number `first` on into one."""
        if len(self.segments) - first < 2 and not any(self.deleted[first:]):
            return
        merged = merge_segments(
            self._new_folder(), self.segments[first:], self.deleted[first:], complete=not first, settings=self.settings
        )
        self.segments[first:], self.deleted[first:] = [merged], [frozenset()]

    def _new_folder(self) -> Path:
        return self.folder / uuid4().hex

    def frequencies(self, kind: Kind, more: Frequencies | None = None) -> SegmentFrequencies:
        """The document frequencies of all terms; `more` are added to them."""
        return SegmentFrequencies(tuple(self.segments), kind, len(self), more)

    def counted_terms(self, id: str, kind: Kind) -> CountedTerms:
        """The words or phrases of a document with their document frequencies: its segment knows where they are."""
        (part,) = self.select([id]).parts
        counts, documents = part.segment.counted_terms(kind, int(part.documents[0]))
        for segment in self.segments:
            if segment is not part.segment:
                documents = documents + segment.frequencies(kind, counts.ids)
        return CountedTerms(counts, documents, self.statistics.terms.frequencies(kind)(counts.ids))

    def live_column(self, name: str) -> Array:
        """A column of all live documents."""
        segments = [(s, deleted) for s, deleted in zip(self.segments, self.deleted, strict=True) if len(s)]
        parts = [np.delete(s[name], sorted(deleted), axis=0) for s, deleted in segments]
        return np.concatenate(parts) if parts else np.empty(0)

    @property
    def rarity(self) -> Rarity:
        """The rarity of words, phrases and title terms in the whole collection; cached until that changes."""
        key = self.roster, self.unrelated, self.space
        if self._rarity is None or any(mine is not known for mine, known in zip(key, self._rarity[0], strict=True)):
            frequencies = {kind: self.frequencies(kind) for kind in KINDS}
            unrelated = self.unrelated or self.statistics.prior.unrelated(Known())
            titles = self.live_column("titles").reshape(-1, TITLE_TERMS)
            space = self.space or self.statistics.space
            self._rarity = key, Rarity.counted(frequencies, self._words, titles, self.statistics, unrelated, space)
        return self._rarity[1]

    def _idf(self, kind: Kind, held: Occurrences, more: Frequencies | None = None) -> Floats:
        """The idf of each occurrence's term; documents about to be added count as `more`."""
        terms, position = held.distinct
        rarity = blend(kind, self.frequencies(kind, more), self.statistics.terms, *self._words.shares)
        return np.asarray(rarity.idf(terms)[position])

    @property
    def _words(self) -> RunningWords:
        """The running words of the live documents; cached until these change."""
        if self._running is None or self._running[0] is not self.roster:
            columns = (self.live_column(name) for name in ("lengths", "familiar", "known"))
            self._running = self.roster, RunningWords(*columns)
        return self._running[1]

    def refresh_norms(self) -> None:
        """Measure the space of all documents' vectors, and compute the lengths of these and of the TF-IDF vectors."""
        means = self.live_column("means")
        self.space = Space.of(means, self.statistics.space) if len(means) else None
        for number, segment in enumerate(self.segments):
            columns = {"means.norms": self.rarity.space.distances(segment["means"]) if len(segment) else np.zeros(0)}
            for kind in KINDS:
                norms = columns[f"{kind}.norms"] = np.zeros(len(segment), dtype=np.float32)
                for start in range(0, len(segment), BATCH):
                    held = segment.occurrences(kind, np.arange(start, min(len(segment), start + BATCH)))
                    norms[start : start + BATCH] = held.norms(self._idf(kind, held))
            self.segments[number] = with_columns(self._new_folder(), segment, columns)
        self.stale = 0


def _manifest(folder: Path) -> str:
    """The text of the manifest; empty if there is none."""
    try:
        return (folder / MANIFEST).read_text(encoding="utf-8")
    except (OSError, ValueError):
        return ""


def _checksums(segments: Sequence[Segment]) -> dict[str, int]:
    """Those of the segments' files, by their names below the index."""
    return {f"{s.folder.name}/{name}": value for s in segments for name, value in s.checksums.items()}


def _size(segment: Segment) -> int:
    """The size of a segment, in terms."""
    return sum(len(segment[f"{kind}.terms"]) for kind in KINDS)


def document_columns(
    rows: Sequence[DocumentRow], background: TermBackground
) -> tuple[dict[str, Array], Mapping[Kind, Occurrences]]:
    """All columns but norms and postings, which depend on the other documents of the index; and the terms held."""
    terms = [row.terms() for row in rows]
    held = {kind: Occurrences.of([t.of(kind).counts for t in terms]) for kind in KINDS}
    titles = [str(row.value("title")) for row in rows]
    means = np.stack([row.array("mean") for row in rows])  # (documents, width)
    title_vectors = np.zeros(means.shape, dtype=np.float16)  # zeros in libraries that lack the column
    for vector, row in zip(title_vectors, rows, strict=True):
        if (known := row.title_vector()) is not None:
            vector[:] = known
    columns = {
        "means": means,
        "title_vectors": title_vectors,
        "titles": stack_titles([title_terms(title) for title in titles]),
        "languages": np.array([language_number(str(row.value("language"))) for row in rows]),
        **held_columns(TITLE_WORDS, Occurrences.of([words_in(title) for title in titles])),
    }
    # running words of each document: all, those of a language that the background knows, and those it has
    words, (distinct, position) = held["words"], held["words"].distinct
    counted = (np.ones(len(distinct), bool), background.familiar(distinct), background.known(distinct))
    for name, flags in zip(("lengths", "familiar", "known"), counted, strict=True):
        columns[name] = np.bincount(words.document, words.count * flags[position], words.documents)
    for kind in KINDS:
        columns |= frequency_columns(kind, held[kind]) | held_columns(kind, held[kind])
    return columns, held


def language_number(code: str) -> int:
    """A two-letter code as a number.

    >>> language_code(language_number("zh"))
    'zh'
    """
    return int.from_bytes(code.encode()[:2])


def language_code(number: int) -> str:
    """The code that a number was made from."""
    return number.to_bytes(2).decode().lstrip("\0")
