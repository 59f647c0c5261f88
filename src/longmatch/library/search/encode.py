"""Step 1: the query. What a user asks with becomes an encoding, and its terms are weighed by the whole collection."""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from longmatch.default.comparison import Query
from longmatch.default.encoding import Encoding
from longmatch.default.matcher import HybridMatcher
from longmatch.default.rarity import QUESTION_WORDS
from longmatch.documents.document import Document, content_hash
from longmatch.documents.read import names_a_file, read
from longmatch.errors import ReadError
from longmatch.lexical.terms import KINDS
from longmatch.library.errors import unknown_query
from longmatch.library.files import SourcePaths
from longmatch.library.index.index import Index, language_code
from longmatch.library.index.segment import TITLE_WORDS
from longmatch.library.store import Store

QueryLike: TypeAlias = Document | Encoding | str | os.PathLike[str]


def is_question(words: int, stored_id: str | None) -> bool:
    """Whether a text is too short for a probability, which is learnt from pairs of documents.

    What a user keeps in the library is a document, however short.
    """
    return stored_id is None and words <= QUESTION_WORDS


def indexed_query(id: str, index: Index) -> Query:
    """What the index holds of a document, to search with."""
    selected = index.select([id])
    words, title, vector = (selected.column(name)[0] for name in ("lengths", "titles", "means"))
    counts = {kind: selected.counts(kind) for kind in KINDS}
    language = language_code(int(selected.column("languages")[0]))
    title_words = selected.counts(TITLE_WORDS)
    return Query(id, int(words), counts, title_words, title, vector, language, index.rarity, stored_id=id)


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
