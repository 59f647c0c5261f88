"""Step 1: the query. What a user asks with becomes an encoding, and its terms are weighed by the whole collection."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from longmatch.default.encoding import Encoding
from longmatch.default.matcher import HybridMatcher
from longmatch.default.no_verdict import QUESTION_WORDS
from longmatch.default.weighed import WeighedDocument
from longmatch.documents.document import Document, content_hash
from longmatch.documents.read import names_a_file, read
from longmatch.errors import ReadError
from longmatch.lexical.terms import KINDS, Counts, Hashes, Kind
from longmatch.library.errors import unknown_query
from longmatch.library.files import SourcePaths
from longmatch.library.index.documents import language_code
from longmatch.library.index.index import Index
from longmatch.library.index.segment import TITLE_WORDS
from longmatch.library.index.terms import QueryTerms
from longmatch.library.store import Store

QueryLike: TypeAlias = Document | Encoding | str | os.PathLike[str]


def is_question(words: int, stored_id: str | None) -> bool:
    """Whether a text is too short for a probability, which is learnt from pairs of documents.

    What a user keeps in the library is a document, however short.
    """
    return stored_id is None and words <= QUESTION_WORDS


@dataclass(frozen=True)
class Query:
    """A document to search with; its terms are weighed by the whole collection when they are first needed."""

    id: str
    words: int  # running
    counts: Mapping[Kind, Counts]
    title_words: Counts
    title_terms: Hashes
    vector: npt.NDArray[np.float32]
    index: Index
    language: str = ""  # its two-letter code
    encoded: Encoding | None = None  # None where terms and vector are enough
    stored_id: str | None = None  # of the library's document that it is, if it is one
    weighed: WeighedDocument | None = None  # that document, where its terms are weighed already

    @staticmethod
    def of(
        encoding: Encoding, index: Index, stored_id: str | None = None, weighed: WeighedDocument | None = None
    ) -> "Query":
        """From an encoding."""
        return Query(
            encoding.document.id,
            encoding.words,
            {kind: weighed.counts(kind) if weighed else encoding.terms.of(kind).counts for kind in KINDS},
            encoding.title_words,
            encoding.title_terms,
            encoding.mean,
            index,
            encoding.document.language,
            encoding,
            stored_id,
            weighed,
        )

    @staticmethod
    def of_weighed(document: WeighedDocument, index: Index) -> "Query":
        """From a document of the library that is kept between questions."""
        return Query.of(document.encoding, index, document.id, document)

    @staticmethod
    def of_indexed(id: str, index: Index) -> "Query":
        """From what the index holds of a document."""
        selected = index.select([id])
        words, title, vector = (selected.column(name)[0] for name in ("lengths", "titles", "means"))
        counts = {kind: selected.counts(kind) for kind in KINDS}
        language = language_code(int(selected.column("languages")[0]))
        title_words = selected.counts(TITLE_WORDS)
        return Query(id, int(words), counts, title_words, title, vector, index, language, stored_id=id)

    @property
    def is_question(self) -> bool:
        """Whether it is a question rather than a document."""
        return is_question(self.words, self.stored_id)

    @property
    def encoding(self) -> Encoding:
        """The encoding of a query that has one."""
        if self.encoded is None:
            raise ValueError(f"{self.id} was read for its terms alone")
        return self.encoded

    @cached_property
    def terms(self) -> Mapping[Kind, QueryTerms]:
        """Words and phrases with their weights, the terms of the title among them."""
        known = self.weighed
        return {
            kind: self.index.query_terms(kind, self.counts[kind], self.title_terms, known.idf(kind) if known else None)
            for kind in KINDS
        }


@dataclass(frozen=True)
class QueryEncoder:
    """Encodes what a user asks with: a file, a Document, the id of a stored document, or an encoding."""

    store: Store
    stored: Callable[[Sequence[str]], list[Encoding]]  # documents as they were encoded when they were added
    sources: SourcePaths
    matcher: Callable[[], HybridMatcher]  # opened when something has to be encoded

    def encode(self, query: QueryLike) -> tuple[Encoding, str | None]:
        """The encoding, and the id of the document of the library that it is, if it is one."""
        if isinstance(query, Encoding):
            return query, self.stored_id(query.document)
        if isinstance(query, str) and (stored := self.stored([query])):
            return stored[0], query
        document = query if isinstance(query, Document) else self.read(query)
        id = self.stored_id(document)
        if id is not None and (stored := self.stored([id])):  # else another process has removed it since
            return stored[0], id
        return self.matcher().encode([document])[0], None

    def stored_id(self, document: Document) -> str | None:
        """The id under which the library has this very document."""
        rows = self.store.read(["id", "source"], f"hash = '{content_hash(document)}'").to_pylist()
        source = self.sources.source(Path(document.source)) if document.source else ""
        return next((r["id"] for r in rows if source == r["source"] or (not source and r["id"] == document.id)), None)

    def read(self, path: str | os.PathLike[str]) -> Document:
        """The file of that name."""
        try:
            return read(os.fspath(path))
        except ReadError as error:
            if names_a_file(path):
                raise
            ids = sorted(self.store.read(["id"])["id"].to_pylist())
            raise unknown_query(path, self.store.address, f"longmatch show {self.store.address}", ids) from error
