"""The Library: a collection of documents on disk."""

import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from longmatch.default.encoding import Encoding
from longmatch.default.explanation import explain_within
from longmatch.default.matcher import HybridMatcher
from longmatch.default.statistics import Statistics, shipped_statistics
from longmatch.documents.document import Document
from longmatch.library.changes import Added
from longmatch.library.errors import LibraryError, NotALibrary, in_a_sentence
from longmatch.library.facts import Facts, background_sum
from longmatch.library.files import Sources
from longmatch.library.fitting import fitting, with_learnt
from longmatch.library.index.index import Index
from longmatch.library.indexing import Adding, Report, Way
from longmatch.library.lock import writing, writing_if_free
from longmatch.library.memory import keep_few_pools
from longmatch.library.pairs import SimilarPairs, find_pairs
from longmatch.library.reencode import Reencoder, reencode
from longmatch.library.rows import DOCUMENT
from longmatch.library.search.candidates import CANDIDATES
from longmatch.library.search.encode import Query, QueryEncoder, QueryLike
from longmatch.library.search.explain import Ranking
from longmatch.library.search.hierarchical import rank_by_sdr
from longmatch.library.search.searcher import Searcher
from longmatch.library.store import Store
from longmatch.library.vectors import Kind
from longmatch.library.writer import Writer, heal
from longmatch.matching.match import Match
from longmatch.matching.matcher import Hit, Matcher, Progress
from longmatch.matching.reranking import DEPTH
from longmatch.sdr.matcher import SdrMatcher

Paths: TypeAlias = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]
By: TypeAlias = Literal["default", "sdr"]

EXACT_BELOW = 100_000  # documents: from there on document vectors are searched by an approximate index
INDEX = "index"
TOGETHER = 32  # queries encoded at a time


class Library:
    """A collection of documents in a folder, or at an address of object storage.

        library = Library("papers")
        library.add("downloads/")            # incremental; safe to interrupt and run again
        for hit in library.rank("a.pdf"):    # a file, a Document, or the id of a document in the library
            print(hit.score, hit.title)

    `model` is the matcher that encodes; by default the one `longmatch.load()` gives, opened when first needed.
    `vectors` says in which numbers a new library keeps its sentence vectors: float16, or int8 for half the room.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        model: HybridMatcher | None = None,
        *,
        create: bool = True,
        candidates: int = CANDIDATES,
        exact_below: int = EXACT_BELOW,
        vectors: Kind | None = None,
        tell: Callable[[str], None] = lambda sentence: None,
    ) -> None:
        keep_few_pools()
        self.address = os.fspath(path)
        self.candidates, self.exact_below, self._tell = candidates, exact_below, tell
        self._model = model  # as it is without what the library has learnt
        self._fitting: tuple[Facts, HybridMatcher] | None = None
        self._general: tuple[Facts, Statistics] | None = None
        self._vectors = vectors
        self._is_local = "://" not in self.address
        self._sources = Sources(Path(self.address).resolve().parent if self._is_local else None)
        self._held: Store | None = None
        self._index: Index | None = None
        self._spare: tempfile.TemporaryDirectory[str] | None = None  # for the index of a library that is read-only
        try:
            self._held = Store.open(self.address)
        except NotALibrary:
            if not create or (self._is_local and Path(self.address).is_file()):
                raise

    @property
    def _store(self) -> Store:
        if self._held is None:
            self._held = Store.open(self.address)
        return self._held

    @property
    def matcher(self) -> HybridMatcher:
        """The model, with what the library has learnt, checked against the one that made it."""
        if self._model is None:
            self._model = HybridMatcher()
        if self._held is None:
            return self._model
        if self._fitting is None or self._fitting[0] != self._held.facts:
            self._fitting = self._held.facts, fitting(self._model, self._held)
        return self._fitting[1]

    @property
    def statistics(self) -> Statistics:
        """What is common in text in general; no model is opened for them."""
        general = self._model.statistics if self._model else shipped_statistics()
        if self._held is None:
            return general
        if self._general is None or self._general[0] != self._held.facts:
            learnt = self._held.learnt()
            self._general = self._held.facts, learnt.statistics(general) if learnt else general
        return self._general[1]

    @property
    def _folder(self) -> Path:
        """Where the index and the lock lie: in the library, or in the user's cache for one in object storage."""
        if self._is_local:
            return Path(self.address)
        cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
        return cache / "longmatch" / sha256(self.address.encode()).hexdigest()[:16]

    @property
    def _now(self) -> Store | None:
        """The store with what other processes have committed; None where there is no library yet."""
        self.refresh()
        return self._held

    def __len__(self) -> int:
        return len(store) if (store := self._now) is not None else 0

    def __iter__(self) -> Iterator[str]:
        """The ids, sorted."""
        return iter(sorted(store.read(["id"])["id"].to_pylist()) if (store := self._now) is not None else [])

    def __contains__(self, id: object) -> bool:
        return isinstance(id, str) and (store := self._now) is not None and bool(store.fetch([id], ["id"]))

    @property
    def documents(self) -> Iterator[Document]:
        """All documents, a few at a time in memory."""
        if (store := self._now) is not None:
            for batch in store.batches(DOCUMENT):
                yield from (self._placed(row.document()) for row in batch)

    def show(self, id: str) -> Document:
        """One document."""
        self._store.refresh()
        rows = self._store.fetch([id], DOCUMENT)
        if not rows:
            raise self._unknown(id)
        return self._placed(rows[0].document())

    def describe(self) -> list[dict[str, Any]]:
        """Id, title, language, words and source of every document, sorted by id."""
        rows = self._store.read(["id", "title", "language", "words", "source"]).to_pylist()
        return sorted(rows, key=lambda row: row["id"])

    def facts(self) -> dict[str, Any]:
        """How much there is, and what made it."""
        words = self._store.read(["words"])["words"].to_numpy()
        made = self._store.facts
        return {
            "documents": len(words),
            "words": int(words.sum()),
            "model": made.model,
            "backbone": made.network,
            "computes": made.computes,
            "vectors": made.vectors,
            "schema": made.schema,
            "adapted": learnt.told if (learnt := self._store.learnt()) else None,
        }

    def pairs(self, minimum: float = 0.8, progress: Callable[[int], None] | None = None) -> SimilarPairs:
        """The most similar pairs and the groups of near-duplicates.

        `progress` is called with the number of documents searched since the last call.
        """
        return find_pairs(self._searcher(), minimum, progress)

    def find(self, words: str, k: int = 10) -> list[Document]:
        """The documents that hold words, best first."""
        rows = self._store.fetch(self.find_ids(words, k), DOCUMENT)
        return [self._placed(row.document()) for row in rows]

    def find_ids(self, words: str, k: int = 10) -> list[str]:
        """The ids of the documents that hold words, best first."""
        return self._store.find(words, k)

    @property
    def version(self) -> int:
        """A number that changes with every change of the documents, whichever process made it."""
        self._store.refresh()
        return self._store.version

    def refresh(self) -> None:
        """See what other processes have changed: documents, and the model if they have adapted it."""
        if self._held is not None:
            self._held.refresh()

    def vectors(self) -> tuple[list[str], npt.NDArray[np.float32]]:
        """The ids and the documents' vectors: (documents, width)."""
        searcher = self._searcher()
        index = searcher.index
        means = index.living("means").astype(np.float32)
        return searcher.scope().ids, means.reshape(len(index), -1) if len(index) else np.zeros((0, 0), np.float32)

    def encode(self, query: QueryLike) -> Encoding:
        """A document as the library's model sees it: stored, or encoded now."""
        return self._query_encoder().encode(query)[0]

    def compare(self, a: QueryLike, b: QueryLike) -> Match:
        """Compare two documents, of the library or not, by the terms of the whole library; stored ones are not encoded
        again.
        """
        first, second = self.encode(a), self.encode(b)
        return self._searcher().explain(first, second).match(self._store.facts.model)

    def within(self, query: QueryLike) -> Match:
        """A document's own sections against each other."""
        return explain_within(self.encode(query), self.statistics, self._store.facts.model)

    def add(self, paths: Paths, prune: bool = False, progress: Report | None = None, way: Way | None = None) -> Added:
        """Bring the library up to date with files and folders: new ones are added, changed ones replaced.

        `prune` removes documents whose file is gone. Interrupted at any moment, it goes on where it stopped. `way` is
        where the work is done: here, or on a cluster (`longmatch.distributed`).
        """
        given = [Path(p) for p in ([paths] if isinstance(paths, str | os.PathLike) else paths)]
        with self._writing() as writer:
            if way:
                done = way.add(writer, self._sources, progress, prune, given)
            else:
                done = Adding(writer, self._sources, progress, prune).run(given)
            writer.finish(self.exact_below)
        return done

    def reencode(self, progress: Callable[[int], None] | None = None) -> None:
        """Encode all documents again with this model; `progress` is called with the number of documents done."""
        reencoder = self.reencoder()
        with reencoder.writing():
            reencoder.store.refresh()
            reencoder.encode(with_learnt(reencoder.base, reencoder.store), progress)

    def remove(self, ids: str | Sequence[str]) -> None:
        """Remove documents; a file that is still there comes back with the next `add`."""
        wanted = [ids] if isinstance(ids, str) else list(dict.fromkeys(ids))
        known = dict(self._sources_of(wanted))
        for id in wanted:
            if id not in known:
                raise self._unknown(id)
        with self._writing() as writer:
            writer.store.delete_files(list(known.values()))
            writer.remove(wanted)
            writer.finish(self.exact_below)

    def rank(
        self,
        query: QueryLike,
        k: int = 10,
        where: str | None = None,
        by: By = "default",
        *,
        rerank: Matcher | None = None,
        depth: int = DEPTH,
        progress: Progress | None = None,
    ) -> list[Hit]:
        """The k documents that belong most with the query, best first; the query itself is left out.

        `where` is a condition as in SQL on id, title, language, words, source and metadata: "year > 2019". `by` names
        the score. With `rerank`, another model, the best `depth` (at least k) are read and scored by it; `progress` is
        called with their number as they are, and the passages that explain a hit are still the library's.
        """
        searcher, encoded = self._encoded(query)
        ranking = self._ranking(searcher, encoded, max(k, depth) if rerank else k, where, by)
        if rerank:
            ranking = ranking.reranked(rerank, k, progress)
        return ranking.hits(self._placed)

    def _ranking(self, searcher: Searcher, query: Query, k: int, where: str | None, by: By) -> Ranking:
        if by == "sdr":
            return rank_by_sdr(searcher, query, k, SdrMatcher(self.matcher.backbone), where)
        return searcher.rank(query, k, where)

    def rank_many(
        self, queries: Iterable[Document], k: int = 10, where: str | None = None, by: By = "default"
    ) -> Iterator[tuple[Document, list[Hit]]]:
        """Each of many queries with what `rank` finds for it; they are encoded in batches."""
        remaining = iter(queries)
        while batch := list(islice(remaining, TOGETHER)):
            self._store.refresh()
            stored = [self._query_encoder().stored_id(document) for document in batch]
            unknown = [document for document, id in zip(batch, stored, strict=True) if id is None]
            encodings = iter(self.matcher.encode(unknown) if unknown else ())
            for document, id in zip(batch, stored, strict=True):
                yield document, self.rank(next(encodings) if id is None else id, k, where, by)

    def _encoded(self, query: QueryLike) -> tuple[Searcher, Query]:
        """What to search with, and the query; both of one model, should another process change it meanwhile."""
        while True:
            self._store.refresh()
            model = self._store.facts
            encoding, stored_id = self._query_encoder().encode(query)
            searcher = self._searcher()
            if self._store.facts == model or isinstance(query, Encoding):
                return searcher, Query.of(encoding, searcher.index, stored_id)

    def _query_encoder(self) -> QueryEncoder:
        return QueryEncoder(self._store, self._sources, lambda: self.matcher)

    def resolve(self, query: str | os.PathLike[str]) -> Document:
        """The document of that id, or the file of that name."""
        if isinstance(query, str) and query in self:
            return self.show(query)
        return self._query_encoder().read(query)

    def _sources_of(self, ids: Sequence[str]) -> Iterator[tuple[str, str]]:
        return ((row.id, str(row.value("source"))) for row in self._store.fetch(ids, ["id", "source"]))

    def _placed(self, document: Document) -> Document:
        """With its source as a path that can be opened."""
        return replace(document, source=str(self._sources.path(document.source))) if document.source else document

    def _unknown(self, id: str) -> LibraryError:
        return LibraryError(f"{self.address} has no document {id}. List them: longmatch show {self.address}.")

    def _searcher(self) -> Searcher:
        """A search over the store as it is now, and an index of the same version."""
        self._store.refresh()
        if self._index is None or self._index.version != self._store.version:
            self._store.facts.check_background(background_sum(self.statistics.sentences), self.address)
            self._index = self._fitting_index()
        return Searcher(self._store, self._index, self.statistics, self.candidates, self.exact_below)

    def _fitting_index(self) -> Index:
        index = self._open_index(self._folder / INDEX)
        if index.version == self._store.version:
            return index
        with writing_if_free(self._folder) as lock:
            if lock == "busy" and index.segments:
                return index  # what the other process has indexed so far
            if lock == "held":
                with suppress(OSError):  # a full disk, for example
                    index = self._healed(self._folder / INDEX)
                    index.save(self._store.version)
                    return index
        return self._spare_index()

    def _spare_index(self) -> Index:
        """An index outside a library that cannot be written, for as long as it is open."""
        index = self._open_index(self._folder / INDEX)
        self._spare = tempfile.TemporaryDirectory(prefix="longmatch-")
        index.folder = Path(self._spare.name)
        with in_a_sentence(self.address):
            heal(index, self._store)
        return index

    def _healed(self, folder: Path) -> Index:
        self._store.refresh()
        index = self._open_index(folder)
        if index.version != self._store.version:
            heal(index, self._store)
        return index

    def _open_index(self, folder: Path) -> Index:
        made_by = background_sum(self.statistics.sentences) + self._store.facts.to_json()
        return Index.open(folder, self.statistics, sha256(made_by.encode()).hexdigest()[:16])

    def reencoder(self) -> Reencoder:
        """What encodes all documents again, with any model; for this library and for what adapts its model."""
        self._model = self._model or HybridMatcher()
        return Reencoder(self._store, self._model, lambda: writing(self._folder, self._tell), self._encode_with)

    def _encode_with(self, matcher: HybridMatcher, progress: Callable[[int], None] | None) -> Store:
        """Encode all documents with a matcher; the lock is held."""
        self._held = reencode(self._store, matcher, self._vectors or self._store.facts.vectors, progress)
        self._index = None
        with in_a_sentence(self.address):
            writer = Writer(self._held, self._healed(self._folder / INDEX), lambda: self.matcher)
        writer.finish(self.exact_below)
        return self._held

    @contextmanager
    def _writing(self) -> Iterator[Writer]:
        """Hold the lock, with the store and the index as they are now."""
        with writing(self._folder, self._tell):
            if self._held is None:
                self._held = Store.create(self.address, Facts.of(self.matcher, self._vectors or "float16"))
            self._held.facts.check_vectors(self._vectors, self.address)
            with in_a_sentence(self.address):
                index = self._healed(self._folder / INDEX)
            self._index = None
            yield Writer(self._held, index, lambda: self.matcher)
