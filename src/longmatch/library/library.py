"""The Library: a collection of documents on disk."""

import json
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from longmatch.cache import cache_folder
from longmatch.default.comparison import Query, WeighedDocument
from longmatch.default.encoding import Encoding
from longmatch.default.explanation import explain_within
from longmatch.default.matcher import HybridMatcher
from longmatch.default.meaning import load_backbone
from longmatch.default.rarity import QUESTION_WORDS
from longmatch.default.statistics import Statistics, known_statistics
from longmatch.documents.document import Document
from longmatch.documents.read import read_text_string
from longmatch.encoders.pretrained import TOKEN_VECTORS
from longmatch.encoders.reader import Reader
from longmatch.errors import LongmatchError
from longmatch.library.changes import IndexingSummary, Prune
from longmatch.library.checksums import storage_errors
from longmatch.library.conditions import COLUMNS, parse
from longmatch.library.errors import IndexingStopped, LibraryError, NotALibrary, check_count, similar_id
from longmatch.library.files import DescribedFile, IndexedFiles, SourcePaths
from longmatch.library.finding import Wanted, find_ids, left_out
from longmatch.library.indexing import IndexingBackend, IndexingRun, OnProgress
from longmatch.library.model import LibraryModel, background_digest
from longmatch.library.pairs import SimilarPairs, find_pairs
from longmatch.library.row_cache import RowCache
from longmatch.library.rows import DOCUMENT_COLUMNS, VectorType
from longmatch.library.search.encode import QueryEncoder, QueryLike, is_question
from longmatch.library.search.explain import MOST as MOST_SAME
from longmatch.library.search.explain import same_documents
from longmatch.library.search.hierarchical import rank_by_sdr
from longmatch.library.search.searcher import Searcher
from longmatch.library.search.sections import find_sections
from longmatch.library.settings import DEFAULTS, LibrarySettings
from longmatch.library.shared_text import CommonPassages, same_text_remarks
from longmatch.library.store import Store, limit_malloc_arenas, locate_library
from longmatch.library.writer import CurrentIndex, OnDocuments, Writer, put_documents, reencode, write_lock
from longmatch.matching.hits import Hits, SectionHits
from longmatch.matching.match import Match
from longmatch.matching.matcher import DEPTH, Matcher, Progress
from longmatch.matching.wording import LIKELY
from longmatch.models.loading import load
from longmatch.models.sdr.matcher import SdrMatcher

Paths: TypeAlias = str | os.PathLike[str] | Iterable[str | os.PathLike[str] | DescribedFile]
By: TypeAlias = Literal["default", "sdr"]

LED_BY_SECTIONS, LED_BY_READER = 1.0, 4.0  # what the best sections of documents count for a question, beside the score
NO_QUESTION = f"Deep reading is for questions of at most {QUESTION_WORDS} words. Ask a shorter one, or rank without it."


class Library:
    """A collection of documents in a folder or in object storage.

        library = Library("papers")
        library.add("downloads/")            # incremental; can be interrupted and run again
        for hit in library.rank("a.pdf"):    # a file, a Document, or the id of a document in the library
            print(hit.score, hit.title)

    `model` encodes documents; by default that which made the library, loaded when first needed, and for a new library
    the default with the backbone of the name `backbone`, or that of `longmatch.load()`. `vectors` is the type in which
    a new library keeps a transformer's sentence vectors: float16, or int8 at half the size. `settings` say what it may
    use. `on_message` is called with messages for the user, such as that the library is locked or has no checksums.

    Behind it stand the `store` of the documents, a `searcher()` over them, and a `writer()` that changes them.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        model: HybridMatcher | None = None,
        *,
        create: bool = True,
        settings: LibrarySettings = DEFAULTS,
        vectors: VectorType | None = None,
        backbone: str | None = None,
        on_message: Callable[[str], None] = lambda message: None,
    ) -> None:
        limit_malloc_arenas()
        self.address, self.settings = os.fspath(path), settings
        self.opens_by_address = model is None and backbone is None  # so another process can open the same library
        self._model, self._backbone, self._vector_type, self._on_message = model, backbone, vectors, on_message
        self._checked: LibraryModel | None = None  # the record that the matcher was checked against
        self._is_local = "://" not in self.address
        self._source_paths = SourcePaths(Path(self.address).resolve().parent if self._is_local else None)
        self._opened: Store | None = None
        self._search: Searcher | None = None  # over the version searched last
        try:
            self._opened = Store.open(self.address, settings=self.settings)
        except NotALibrary:
            if not create or (self._is_local and Path(self.address).is_file()):
                raise
        if self._opened and self._opened.checks.remark:
            on_message(self._opened.checks.remark)

    @property
    def store(self) -> Store:
        """The documents on disk, as they were read last; raises NotALibrary where nobody has made it yet."""
        if self._opened is None:
            self._opened = Store.open(self.address, settings=self.settings)
        return self._opened

    @property
    def matcher(self) -> HybridMatcher:
        """The model, checked to be the one that made the library."""
        matcher = self._unchecked()
        if self._opened is not None and self._checked != self._opened.model:
            self._opened.model.checked(matcher, self.address)
            self._checked = self._opened.model
        return matcher

    def _unchecked(self) -> HybridMatcher:
        """The model given, or with the backbone asked for, or that of the library."""
        if self._model is None and self._backbone is not None:
            self._model = HybridMatcher(load_backbone(self._backbone))
        elif self._model is None:
            self._model = self._opened.model.load_matcher(self.address) if self._opened else HybridMatcher()
        return self._model

    @property
    def statistics(self) -> Statistics:
        """The statistics of text in general; those of the backbones that longmatch knows, without opening them."""
        if self._model is None:
            recorded = self._opened.model.backbone if self._opened else TOKEN_VECTORS
            if known := known_statistics(self._backbone or recorded):
                return known
        return self._unchecked().statistics

    @property
    def _folder(self) -> Path:
        """The folder of the index and the lock: the library, or for object storage one in the user's cache."""
        if self._is_local:
            return Path(self.address)
        return self.settings.index_folder or cache_folder() / sha256(self.address.encode()).hexdigest()[:16]

    @property
    def _current_store(self) -> Store | None:
        """The store, refreshed; None if the library does not exist yet."""
        self.refresh()
        return self._opened

    def __len__(self) -> int:
        return len(store) if (store := self._current_store) is not None else 0

    def __iter__(self) -> Iterator[str]:
        """The ids, sorted."""
        return iter(sorted(store.read(["id"])["id"].to_pylist()) if (store := self._current_store) is not None else [])

    def __contains__(self, id: object) -> bool:
        return isinstance(id, str) and (store := self._current_store) is not None and bool(store.fetch([id], ["id"]))

    @property
    def documents(self) -> Iterator[Document]:
        """All documents; a few at a time are in memory."""
        if (store := self._current_store) is not None:
            for batch in store.batches(DOCUMENT_COLUMNS):
                yield from (self._with_path(row.document()) for row in batch)

    def show(self, id: str) -> Document:
        """The document with this id."""
        self.store.refresh()
        rows = self.store.fetch([id], DOCUMENT_COLUMNS)
        if not rows:
            raise self._unknown_id(id)
        return self._with_path(rows[0].document())

    def records(self, where: str | None = None, metadata: bool = True) -> list[dict[str, Any]]:
        """Id, title, language, words, source and, if wanted, the metadata of every document, sorted by id.

        `where` is a condition as in `rank`.
        """
        self.refresh()
        condition = parse(where).sql if where else None
        rows = self.store.read([*COLUMNS, "metadata"] if metadata else COLUMNS, condition).to_pylist()
        for row in rows:
            row["source"] = self._openable(row["source"])
            if metadata:
                row["metadata"] = json.loads(row["metadata"] or "{}")
        return sorted(rows, key=lambda row: str(row["id"]))

    def summary(self) -> dict[str, Any]:
        """The number of documents and words, and the model."""
        self.refresh()
        words = self.store.read(["words"])["words"].to_numpy()
        model = self.store.model
        return {
            "documents": len(words),
            "words": int(words.sum()),
            "model": model.name,
            "backbone": f"{model.backbone} with the change {model.change}" if model.change else model.backbone,
            "computes": model.computes,
            "vectors": model.vectors,
            "schema": model.schema,
        }

    def pairs(
        self, minimum: float = LIKELY, progress: Callable[[int], None] | None = None, k: int | None = None
    ) -> SimilarPairs:
        """Copies, versions, reused text and documents that belong together, and the groups that they form.

        `minimum` is the probability, as `rank` states it, from which two documents without shared text are listed.
        `progress` is called with the number of documents searched since the last call. With `k` the first k are listed,
        each with its strongest passage; without, all are, and the first have one.
        """
        return find_pairs(self.searcher(), minimum, progress, k)

    def find(self, words: str, k: int = 10) -> list[Document]:
        """The k documents that best match a full-text search: all of the words, and "phrases" as they stand."""
        rows = self.store.fetch(self.find_ids(words, k), DOCUMENT_COLUMNS)
        return [self._with_path(row.document()) for row in rows]

    def find_ids(self, words: str, k: int | None = 10, where: str | None = None) -> list[str]:
        """The ids of what `find` finds, or of all that it would; `where` is a condition as in `rank`."""
        return find_ids(self.searcher().store, Wanted.of(words), k, where)

    @property
    def version(self) -> int:
        """A number that changes whenever any process changes the documents."""
        self.store.refresh()
        return self.store.version

    def refresh(self) -> None:
        """Read the changes of other processes: documents, and the model if they encoded all again."""
        if self._opened is not None:
            self._opened.refresh()
        else:
            with suppress(NotALibrary):  # nobody has made it yet
                self._opened = Store.open(self.address, settings=self.settings)

    def vectors(self) -> tuple[list[str], npt.NDArray[np.float32]]:
        """The ids, and the documents' vectors (documents, width): the cosine of two is how alike their meaning is."""
        searcher = self.searcher()
        means = searcher.index.live_column("means")
        placed = searcher.index.rarity.space.place(means) if len(means) else np.zeros((0, 0), np.float32)
        return searcher.scope().ids, placed

    def compare(self, a: QueryLike, b: QueryLike) -> Match:
        """Compare two documents, of the library or not, by the terms of the whole library; stored ones are not encoded
        again. With a question there is no probability, as in `rank`.
        """
        encoder = self._query_encoder(self.searcher())
        (first, first_id), (second, second_id) = encoder.encode(a), encoder.encode(b)
        searcher = self.searcher()
        question = is_question(first.words, first_id) or is_question(second.words, second_id)
        match = searcher.explain(first, second).match(self.store.model.name, question)
        return replace(match, is_common=CommonPassages(searcher.store, searcher.index))

    def within(self, query: QueryLike) -> Match:
        """A document's own sections against each other."""
        return explain_within(
            self._query_encoder(self.searcher()).encode(query)[0], self.statistics, self.store.model.name
        )

    def add(
        self,
        paths: Paths,
        prune: Prune = False,
        progress: OnProgress | None = None,
        backend: IndexingBackend | None = None,
    ) -> IndexingSummary:
        """Bring the library up to date with files and folders: new documents are added, changed ones replaced.

        A DescribedFile comes with title and metadata, as those of `library.zotero.attachments`.
        `prune` removes documents whose file is gone, or those of the files that it is true of; of a file that was
        renamed, they are kept as they were encoded. If interrupted, it raises IndexingStopped, a KeyboardInterrupt;
        the next call resumes. `backend` does the work elsewhere than in this process, such as on a cluster
        (`longmatch.distributed`).
        """
        named = [paths] if isinstance(paths, str | os.PathLike) else paths
        path_list = [p if isinstance(p, DescribedFile) else Path(p) for p in named]
        with self.writer() as writer:
            before = len(writer.store)
            try:
                if backend:
                    summary = backend.add(writer, self._source_paths, progress, prune, path_list)
                else:
                    summary = IndexingRun(writer, self._source_paths, progress, prune).run(path_list)
                writer.finish()
            except KeyboardInterrupt:
                raise IndexingStopped(self.address, before, len(writer.store)) from None
        if before or len(summary.added) > 1:
            summary.remarks += same_text_remarks(self.searcher(), summary.added)
        return summary

    def put(
        self,
        path: str | os.PathLike[str],
        encode: Callable[[HybridMatcher], Sequence[Encoding]],
        wait: Callable[[], None] | None = None,
        problems: Sequence[str] = (),
    ) -> list[str]:
        """Add the documents of a file that was read elsewhere; returns their ids.

        `encode` encodes them with the library's model. `wait` is called while another process changes the library.
        `problems` are sentences on what could not be read.
        """
        self.refresh()
        encodings = encode(matcher := self.matcher)
        with self.writer(wait) as writer:
            writer.store.model.checked(matcher, self.address)  # another process may have changed the model meanwhile
            ids = put_documents(writer, self._source_paths, Path(path), encodings, problems)
            writer.finish()
        return ids

    @property
    def files(self) -> IndexedFiles:
        """The files that the documents come from."""
        return IndexedFiles(self.store, self._source_paths)

    def reencode(self, progress: OnDocuments | None = None) -> None:
        """Encode all documents again with this model; `progress` is called with the number of documents just done."""
        matcher, store = self._unchecked(), self.store
        with write_lock(self._folder, self._on_message):
            store.refresh()
            self._opened = reencode(store, matcher, self._vector_type or store.model.vectors, progress)
            self._search = None
            with storage_errors(self.address):
                writer = Writer(self._opened, self.current_index.updated(), lambda: self.matcher)
            writer.finish()

    def remove(self, ids: str | Sequence[str], wait: Callable[[], None] | None = None) -> None:
        """Remove documents; a file that is still there comes back with the next `add`.

        `wait` is called while another process changes the library.
        """
        ids = [ids] if isinstance(ids, str) else list(dict.fromkeys(ids))
        if not ids:
            return
        sources = {row.id: str(row.value("source")) for row in self.store.fetch(ids, ["id", "source"])}
        for id in ids:
            if id not in sources:
                raise self._unknown_id(id)
        with self.writer(wait) as writer:
            writer.store.delete_files(list(sources.values()))
            writer.remove(ids)
            writer.finish()

    def rank(
        self,
        query: QueryLike,
        k: int = 10,
        where: str | None = None,
        by: By = "default",
        *,
        rerank: Matcher | None = None,
        depth: int = DEPTH,
        combine: bool | None = None,
        progress: Progress | None = None,
        deep: bool | Reader = False,
    ) -> Hits:
        """The k documents that belong most with the query, best first; the query itself is left out.

        Of a query from elsewhere, copies and versions in the library are left out too, and named by `same` of what is
        returned. `where` is a condition as in SQL on id, title, language, words, source and metadata: "year > 2019".
        `by` names the score; the order of a question is that of the score and of the sections that answer best. With
        `rerank`, another model, the best `depth` (at least k) are read by it, and ordered by the mean of the library's
        rank and its own; scores stay the library's. With `combine=False`, and by default with a language model, order
        and scores are its own. `progress` is called with their number as they are read; passages that explain a hit
        are the library's.

        `deep` is for questions: a model made for them (or one given) reads the sections that answer best, and the
        order of documents is mostly that of their best sections; `reader` of what is returned names it.
        """
        check_count(k)
        reader = _reader(deep)
        if reader and (rerank or by != "default"):
            raise LongmatchError("A question is read deeply after the default score alone. Leave out the other model.")
        searcher, encoded = self._encoded(query)
        question = by == "default" and not rerank and is_question(encoded.words, encoded.stored_id)
        if reader and not question:
            raise LongmatchError(NO_QUESTION)
        count = max(k, depth) if rerank else searcher.most_candidates if question else k
        spare = MOST_SAME if encoded.stored_id is None else 0
        if by == "sdr":
            ranking = rank_by_sdr(searcher, encoded, count + spare, SdrMatcher(self.matcher.backbone), where)
        else:
            ranking = searcher.rank(encoded, count + spare, where)
        same = same_documents(encoded.encoding, ranking.candidates) if spare else []
        if spare:
            ranking = ranking.without({one.id for one in same}, count)
        combine = rerank is not None and (rerank.counts_with_first if combine is None else combine)
        if rerank:
            ranking = ranking.reranked(rerank, k, progress, combine=combine)
        sections = find_sections(searcher, encoded, where) if question else None
        if sections:
            sections = sections.read_by(reader, k) if reader else sections
            ranking = ranking.led_by(sections.documents, k, LED_BY_READER if sections.reader else LED_BY_SECTIONS)
        hits = ranking.hits(self._with_path)
        hits.ordered_by = (by, rerank.name) if rerank and combine else None
        hits.same = tuple(replace(one, document=self._with_path(one.document)) for one in same)
        if sections:
            hits.sections = sections.hits(k, self._with_path)
            hits.stands_out, hits.reader = sections.stands_out, sections.reader
        hits.left_out = left_out(self.store, where)
        return hits

    def rank_sections(
        self, query: QueryLike, k: int = 10, where: str | None = None, deep: bool | Reader = False
    ) -> SectionHits:
        """The k sections of the library's documents that answer a query best, such as a question, best first.

        `where` and `deep` are as in `rank`. `stands_out` of what it returns says whether any has more to do with the
        query than unrelated documents of the library.
        """
        check_count(k)
        reader = _reader(deep)
        searcher, encoded = self._encoded(query)
        if reader and not is_question(encoded.words, encoded.stored_id):
            raise LongmatchError(NO_QUESTION)
        sections = find_sections(searcher, encoded, where)
        hits = (sections.read_by(reader, k) if reader else sections).hits(k, self._with_path)
        hits.left_out = left_out(self.store, where)
        return hits

    def rank_many(
        self, queries: Iterable[Document], k: int = 10, where: str | None = None, by: By = "default"
    ) -> Iterator[tuple[Document, Hits]]:
        """Each of many queries with what `rank` finds for it; they are encoded in batches."""
        remaining = iter(queries)
        while batch := list(islice(remaining, self.settings.query_batch)):
            encoder = self._query_encoder(self.searcher())
            stored = [encoder.stored_id(document) for document in batch]
            unknown = [document for document, id in zip(batch, stored, strict=True) if id is None]
            encodings = iter(self.matcher.encode(unknown) if unknown else ())
            for document, id in zip(batch, stored, strict=True):
                yield document, self.rank(next(encodings) if id is None else id, k, where, by)

    def _encoded(self, query: QueryLike) -> tuple[Searcher, Query]:
        """What to search with, and the query; both of one model, should another process change it meanwhile."""
        while True:
            searcher = self.searcher()
            model = self.store.model
            encoding, stored_id = self._query_encoder(searcher).encode(query)
            if stored_id is None:  # it was read and encoded, which may have taken long
                searcher = self.searcher()
            if self.store.model == model or isinstance(query, Encoding):
                return searcher, searcher.query(encoding, stored_id)

    def _query_encoder(self, searcher: Searcher) -> QueryEncoder:
        return QueryEncoder(self.store, searcher.encodings, self._source_paths, lambda: self.matcher)

    def resolve(self, query: str | os.PathLike[str]) -> Document:
        """The document of that id, or the file of that name."""
        if isinstance(query, str) and query in self:
            return self.show(query)
        return self._query_encoder(self.searcher()).read(query)

    def _with_path(self, document: Document) -> Document:
        """The document with its source as a path that can be opened."""
        return replace(document, source=self._openable(document.source))

    def _openable(self, source: str | None) -> str:
        """A stored source as a path that can be opened; empty for a document that came from no file."""
        return str(self._source_paths.path(source)) if source else ""

    def _unknown_id(self, id: str) -> LibraryError:
        meant = similar_id(id, list(self))
        return LibraryError(f"{self.address} has no document {id}.{meant} List them: longmatch show {self.address}.")

    def searcher(self) -> Searcher:
        """A search over the store as it is now, and an index of the same version."""
        self.store.refresh()
        if self._search is None or self._search.index.version != self.store.version:
            self.store.model.check_background(background_digest(self.statistics.sentences), self.address)
            index = self.current_index.covering()
            kept: RowCache[WeighedDocument] = RowCache(self.settings.document_bytes)
            self._search = Searcher(self.store, index, self.statistics, self.settings, kept)
        return self._search

    @property
    def current_index(self) -> CurrentIndex:
        """The index of the store, as it lies on disk or brought up to date."""
        return CurrentIndex(self.store, self._folder, self.statistics, self._is_local)

    @contextmanager
    def writer(self, wait: Callable[[], None] | None = None) -> Iterator[Writer]:
        """Hold the lock, and give a writer for the current store and index; `wait` is called while another has it."""
        with write_lock(self._folder, self._on_message, wait):
            if self._opened is None:
                model = LibraryModel.of(self.matcher, self._vector_type or "float16")
                self._opened = Store.create(self.address, model, settings=self.settings)
            self._opened.checks.check(recheck=True)
            if self._model is not None or self._backbone is not None:
                _ = self.matcher  # one that did not make the library is refused
            if self._vector_type not in (None, stored := self._opened.model.vectors):
                raise LibraryError(
                    f"{self.address} keeps its vectors in {stored}, not in {self._vector_type}. "
                    f"Encode it again: longmatch index {self.address} --reencode --vectors {self._vector_type}."
                )
            with storage_errors(self.address):
                index = self.current_index.updated()
            self._search = None
            yield Writer(self._opened, index, lambda: self.matcher)


def _reader(deep: bool | Reader) -> Reader | None:
    """The reader asked for."""
    return Reader.load() if deep is True else deep or None


def rank_text(
    text: str,
    documents: Library | str | os.PathLike[str] | Sequence[Document],
    k: int = 10,
    where: str | None = None,
    deep: bool | Reader = False,
) -> Hits:
    """The k documents that belong most with a text, best first.

    `documents` is a library, the folder of one, or documents in memory. `where` is a condition on a library's
    documents, and `deep` reads the best sections of a question, as in `Library.rank`.
    """
    query = read_text_string(text)
    if isinstance(documents, str | os.PathLike):
        documents = Library(locate_library(os.fspath(documents)), create=False)
    if isinstance(documents, Library):
        return documents.rank(query, k, where, deep=deep)
    if where:
        raise LongmatchError("A condition (where) needs a library. Select documents in memory beforehand.")
    if deep:
        raise LongmatchError("Deep reading needs a library. Add the documents to one: Library(FOLDER).add(FILES).")
    return load().rank(query, documents, k)
