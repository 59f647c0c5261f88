"""A document of a collection that is the query of a ranking."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal
from unicodedata import normalize

from longmatch.documents.document import Document
from longmatch.reuse.reuse import find_reuse

PROBE = 40  # letters and digits from the middle of a copy's longest paragraph, which stand in the other too


@dataclass(frozen=True)
class SameDocument:
    """A document that holds the query's text: word for word, or as another version of it."""

    document: Document
    relation: Literal["copy", "version"]

    @property
    def id(self) -> str:
        """The document's id."""
        return self.document.id

    @property
    def title(self) -> str:
        """The document's title."""
        return self.document.title

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {"id": self.id, "title": self.title, "relation": self.relation}


def copies_of(query: Document, documents: Iterable[Document]) -> list[bool]:
    """Which documents are copies of a query; only those that hold a stretch of it are compared word by word."""
    longest = _squeezed(max((p.of(query.readable) for p in query.running), key=len, default=""))
    probe = longest[max(0, len(longest) - PROBE) // 2 :][:PROBE]
    return [
        bool(probe) and probe in _squeezed(document.readable) and find_reuse(query, document).relation == "copy"
        for document in documents
    ]


def _squeezed(text: str) -> str:
    return re.sub(r"[\W_]+", "", normalize("NFKC", text).casefold())


def same_remarks(same: Sequence[SameDocument]) -> list[str]:
    """One sentence on the documents that are the query, as there are any.

    >>> same_remarks([SameDocument(Document("a.md", "A", "", ()), "copy")])
    ['This document is in the library: a.md. Its neighbours are shown.']
    """
    copies = [one.id for one in same if one.relation == "copy"]
    versions = [one.id for one in same if one.relation == "version"]
    if not same:
        return []
    if not copies:
        return [f"Another version of this document is in the library: {', '.join(versions)}. Its neighbours are shown."]
    also = f", and another version of it: {', '.join(versions)}" if versions else ""
    return [f"This document is in the library: {', '.join(copies)}{also}. Its neighbours are shown."]
