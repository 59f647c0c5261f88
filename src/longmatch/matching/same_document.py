"""A document of a collection that is the query of a ranking."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from longmatch.documents.document import Document


@dataclass(frozen=True)
class SameDocument:
    """A document that holds the query's text: a copy, or another version of it."""

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
