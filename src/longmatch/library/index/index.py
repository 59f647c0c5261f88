"""The segments of a library taken together: grows by segments, forgets by tombstones, merges when there are many.

Everything here can be made again from the store. The manifest names the store's version it stands for and is replaced
in one step, so that a process killed at any moment leaves an index that is whole, though perhaps behind.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from uuid import uuid4

import numpy as np
import numpy.typing as npt

from longmatch.default.encoding import Encoding
from longmatch.default.rarity import Rarity, blend, trust_in, usual_words
from longmatch.default.statistics import Statistics
from longmatch.lexical.frequencies import Blend, Frequencies
from longmatch.lexical.mentions import TITLE_TERMS, Titles
from longmatch.lexical.terms import KINDS, Counts, Hashes, Kind, Terms
from longmatch.lexical.weights import tfidf
from longmatch.library.index.merge import merge_segments
from longmatch.library.index.segment import (
    Array,
    Segment,
    drop_segment,
    empty_postings,
    frequency_columns,
    posting_columns,
    write_segment,
)
from longmatch.library.index.terms import Floats, Occurrences, QueryTerms, occurrences

FORMAT = 3
MANIFEST = "manifest.json"
HEAVIEST = {"words": 256, "phrases": 512}
"""How many of a document's terms can be found by. Scores are made from all of them."""


@dataclass(frozen=True)
class Roster:
    """The documents of all segments, one after another, dead ones too."""

    names: npt.NDArray[np.object_]
    alive: npt.NDArray[np.bool_]
    rows: Mapping[str, int]  # of the living, by id

    @staticmethod
    def of(segments: Sequence[Segment], dead: Sequence[frozenset[int]]) -> "Roster":
        """Of segments, and which of each one's documents are gone."""
        names = np.array([id for segment in segments for id in segment.ids], dtype=object)
        alive = np.ones(len(names), dtype=bool)
        starts = np.cumsum([0, *(len(segment) for segment in segments)])
        for start, gone in zip(starts[:-1].tolist(), dead, strict=True):
            alive[[start + number for number in gone]] = False
        return Roster(names, alive, {str(names[row]): row for row in np.flatnonzero(alive).tolist()})


@dataclass
class Index:
    """Documents by their words, phrases and vectors."""

    folder: Path
    statistics: Statistics
    background: str  # sum of the statistics and the model, as the segments' norms and vectors depend on them
    segments: list[Segment] = field(default_factory=list)
    dead: list[frozenset[int]] = field(default_factory=list)  # of each segment, the documents that are gone
    version: int = -1  # of the store
    stale: int = 0  # documents that came or went since the norms were made
    _known: tuple[object, Roster] | None = None  # the roster, and what it was made of
    _named: tuple[Roster, Titles] | None = None  # the titles, and whose they are

    @classmethod
    def open(cls, folder: Path, statistics: Statistics, background: str) -> "Index":
        """Open what is there; an empty index where there is nothing, or nothing that can be used."""
        for _ in range(3):  # a merge may remove segments between reading the manifest and opening them
            try:
                facts = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
                if facts["format"] != FORMAT or facts["background"] != background:
                    break
                segments = [Segment.open(folder / name) for name in facts["segments"]]
                dead = [frozenset(numbers) for numbers in facts["dead"]]
                return cls(folder, statistics, background, segments, dead, facts["version"], facts["stale"])
            except (OSError, ValueError, KeyError, TypeError):
                continue
        return cls(folder, statistics, background)

    def save(self, version: int) -> None:
        """Say that the index stands for this version of the store."""
        self.version = version
        facts = {
            "format": FORMAT,
            "background": self.background,
            "version": version,
            "stale": self.stale,
            "segments": [s.folder.name for s in self.segments],
            "dead": [sorted(numbers) for numbers in self.dead],
        }
        self.folder.mkdir(parents=True, exist_ok=True)
        new = self.folder / f".{MANIFEST}"
        new.write_text(json.dumps(facts), encoding="utf-8")
        new.replace(self.folder / MANIFEST)
        self._sweep()

    def _sweep(self) -> None:
        """Remove the segments that a merge or a killed process left behind."""
        mine = {s.folder.name for s in self.segments}
        for place in self.folder.iterdir() if self.folder.is_dir() else ():
            if place.is_dir() and place.name not in mine:
                drop_segment(Segment(place, (), ()))

    @property
    def roster(self) -> Roster:
        """Where each document is; made again when segments have changed."""
        made_of = tuple(s.folder for s in self.segments), tuple(self.dead)
        if self._known is None or self._known[0] != made_of:
            self._known = made_of, Roster.of(self.segments, self.dead)
        return self._known[1]

    @property
    def titles(self) -> Titles:
        """The titles of the living documents; made again when these have changed."""
        if self._named is None or self._named[0] is not self.roster:
            self._named = self.roster, Titles.of(self.living("titles").reshape(-1, TITLE_TERMS))
        return self._named[1]

    @property
    def trust(self) -> tuple[float, float]:
        """How far the language of the living documents is known, and how much their titles say."""
        return trust_in(self.familiarity(), self.titles)

    def title_terms(self, ids: Sequence[str]) -> Hashes:
        """The terms of a text that mentions some living documents by title: (documents, terms of a title)."""
        place = self.roster.rows
        rows = np.array([place[id] for id in ids], dtype=np.int64)
        found, start = np.zeros((len(ids), TITLE_TERMS), dtype=np.uint64), 0
        for segment in self.segments:
            here = (rows >= start) & (rows < start + len(segment))
            found[here] = segment["titles"][rows[here] - start]
            start += len(segment)
        return found

    def __len__(self) -> int:
        return sum(len(s) for s in self.segments) - sum(map(len, self.dead))

    def documents(self) -> dict[str, str]:
        """The content hash of each living document, by id."""
        return {
            id: hash
            for segment, gone in zip(self.segments, self.dead, strict=True)
            for number, (id, hash) in enumerate(zip(segment.ids, segment.hashes, strict=True))
            if number not in gone
        }

    def add(
        self,
        ids: Sequence[str],
        hashes: Sequence[str],
        terms: Sequence[Terms],
        titles: Hashes,
        means: npt.NDArray[np.float32],
    ) -> None:
        """Take in documents; `titles` are the terms of each one's: (documents, terms of a title)."""
        found = occurrences(terms)
        words = found["words"]
        known = self.statistics.words(words.term) > 0
        columns: dict[str, Array] = {
            "means": means,
            "titles": titles,
            "lengths": np.bincount(words.document, words.count, words.documents),
            "familiar": np.bincount(words.document[known], words.count[known], words.documents),
        }
        for kind in KINDS:
            columns |= frequency_columns(kind, found[kind])
        for kind in KINDS:
            own = Frequencies(len(ids), columns[f"{kind}.terms"], columns[f"{kind}.frequencies"].astype(float))
            idf = self._idf(kind, found[kind], own)
            columns[f"{kind}.norms"] = found[kind].norms(idf)
            columns |= posting_columns(kind, found[kind], found[kind].heaviest(idf, HEAVIEST[kind]))
        self._append(write_segment(self._new_folder(), ids, hashes, columns), len(ids))

    def remove(self, ids: Sequence[str], terms: Sequence[Terms]) -> None:
        """Forget documents, whose terms are these."""
        gone = set(ids)
        places = [(s, n) for s, segment in enumerate(self.segments) for n, id in enumerate(segment.ids) if id in gone]
        dead = [set(numbers) for numbers in self.dead]
        for s, n in places:
            dead[s].add(n)
        self.dead = [frozenset(numbers) for numbers in dead]
        columns: dict[str, Array] = {name: np.empty(0) for name in ("means", "titles", "lengths", "familiar")}
        for kind, found in occurrences(terms).items():
            columns |= frequency_columns(kind, found, sign=-1) | empty_postings(kind)
            columns[f"{kind}.norms"] = np.empty(0)
        self._append(write_segment(self._new_folder(), (), (), columns), len(ids))

    def _append(self, segment: Segment, changed: int) -> None:
        self.segments.append(segment)
        self.dead.append(frozenset())
        self.stale += changed
        first = len(self.segments) - 1
        size = _size(segment)
        while first and _size(self.segments[first - 1]) < 2 * size:
            first -= 1
            size += _size(self.segments[first])
        if first < len(self.segments) - 1:
            self.merge(first)

    def merge(self, first: int = 0) -> None:
        """Make one of the segments from this one on."""
        if len(self.segments) - first < 2 and not any(self.dead[first:]):
            return
        merged = merge_segments(self._new_folder(), self.segments[first:], self.dead[first:])
        self.segments[first:], self.dead[first:] = [merged], [frozenset()]

    def _new_folder(self) -> Path:
        return self.folder / uuid4().hex

    def frequencies(self, kind: str, terms: Hashes, more: Frequencies | None = None) -> Frequencies:
        """In how many documents each of these terms occurs, `more` documents counted in."""
        ids = np.unique(terms)
        counts = np.zeros(len(ids)) if more is None else more(ids)
        for segment in self.segments:
            counts += segment.frequencies(kind, ids)
        return Frequencies(len(self) + (more.documents if more else 0), ids, counts)

    def familiarity(self) -> float:
        """The share of the running words that the background text knows."""
        known, total = (self.living(name).sum() for name in ("familiar", "lengths"))
        return float(known / total) if total else 1.0

    @property
    def usual_length(self) -> float:
        """The words of the usual living document; 0 where there are too few to tell."""
        return usual_words(self.living("lengths"))

    def living(self, name: str) -> Array:
        """A column of all living documents."""
        parts = [
            np.delete(s[name], sorted(gone), axis=0) for s, gone in zip(self.segments, self.dead, strict=True) if len(s)
        ]
        return np.concatenate(parts) if parts else np.empty(0)

    def blend(self, kind: Kind, terms: Hashes, more: Frequencies | None = None) -> Blend:
        """How rare these terms are, with the background text as a prior as far as it knows the documents' words."""
        return blend(kind, self.frequencies(kind, terms, more), self.statistics, self.familiarity())

    def rarity(self, encodings: Sequence[Encoding]) -> Rarity:
        """How rare the words, phrases and names of some documents are in the whole collection."""
        titles = [e.title_terms for e in encodings]
        words, phrases = ([e.terms.of(kind).counts.ids for e in encodings] for kind in KINDS)
        return self.rarity_of(np.concatenate(titles + words), np.concatenate(titles + phrases))

    def rarity_of(self, words: Hashes, phrases: Hashes) -> Rarity:
        """How rare these words and phrases are in the whole collection."""
        blends = self.blend("words", words), self.blend("phrases", phrases)
        return Rarity(*blends, self.familiarity(), self.titles, self.usual_length)

    def _idf(self, kind: Kind, found: Occurrences, more: Frequencies | None = None) -> Floats:
        """The idf of each row's term."""
        terms, place = np.unique(found.term, return_inverse=True)
        return np.asarray(self.blend(kind, terms, more).idf(terms)[place])

    def norms_of(self, terms: Sequence[Terms]) -> Mapping[str, Floats]:
        """The length of the TF-IDF vectors of some documents, by the frequencies as they are now."""
        return {kind: found.norms(self._idf(kind, found)) for kind, found in occurrences(terms).items()}

    def set_norms(self, norms: Mapping[str, Mapping[str, float]]) -> None:
        """Replace the norms of all documents: {kind: {id: norm}}."""
        for place, segment in enumerate(self.segments):
            for kind in KINDS:
                values = np.array([norms[kind].get(id, 0.0) for id in segment.ids], dtype=np.float32)
                new = segment.folder / f".{kind}.norms"
                values.tofile(new)
                new.replace(segment.folder / f"{kind}.norms")
            self.segments[place] = Segment(segment.folder, segment.ids, segment.hashes)
        self.stale = 0

    def norms(self, kind: str, ids: Sequence[str]) -> Floats:
        """The length of the TF-IDF vectors of some living documents, as the index keeps them."""
        kept = np.concatenate([segment[f"{kind}.norms"] for segment in self.segments])
        return kept[[self.roster.rows[id] for id in ids]].astype(np.float64)

    def query_terms(self, kind: Kind, counts: Counts, extra: Hashes | None = None) -> QueryTerms:
        """A query's terms, weighed by the whole collection; `extra` terms are looked for too, with a weight of 0."""
        ids = counts.ids if extra is None else np.union1d(counts.ids, extra)
        rarity = self.blend(kind, ids)
        weights = np.zeros(len(ids))
        weights[np.searchsorted(ids, counts.ids)] = tfidf(counts, rarity).values
        return QueryTerms(ids, weights, rarity.idf(ids))


def _size(segment: Segment) -> int:
    """How much a segment holds, in terms."""
    return sum(len(segment[f"{kind}.terms"]) for kind in KINDS)
