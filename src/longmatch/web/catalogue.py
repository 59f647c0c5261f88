"""The list of documents, sorted and searched; read once for each state of the library."""

import threading
from contextlib import suppress
from typing import Any, Literal

from longmatch.documents.containers import shows_pages
from longmatch.library.errors import LibraryError
from longmatch.library.library import Library
from longmatch.web.schema import Described, Listing

Sort = Literal["title", "words", "id"]
Order = Literal["ascending", "descending"]
FOUND = 500  # documents that hold the words of a search


class Catalogue:
    """Id, title, language and words of every document."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self._lock = threading.Lock()
        self._read: tuple[int, dict[str, Described]] | None = None

    def rows(self) -> dict[str, Described]:
        """All documents by their id, sorted."""
        with self._lock:
            version = self._library.version
            if self._read is None or self._read[0] != version:
                rows = {}
                for row in self._library.records(metadata=False):
                    facts = {name: row[name] for name in ("id", "title", "language", "words")}
                    rows[row["id"]] = Described(**facts, shows_pages=shows_pages(row["id"], row["source"] or ""))
                self._read = version, rows
            return self._read[1]

    def get(self, id: str) -> Described | None:
        """One document, if the library has it."""
        return self.rows().get(id)

    def page(self, search: str, sort: Sort | None, order: Order, offset: int, limit: int) -> Listing:
        """A page of the list. What is searched comes best first unless it is sorted: by name, then by the text."""
        rows = self._search(search) if search.strip() else list(self.rows().values())
        chosen = sort or (None if search.strip() else "title")
        if chosen:

            def key(row: Described) -> tuple[Any, ...]:
                return (row.words if chosen == "words" else str(getattr(row, chosen)).casefold(), row.id)

            rows = sorted(rows, key=key, reverse=order == "descending")
        elif order == "descending":
            rows = rows[::-1]
        return Listing(total=len(rows), documents=rows[offset : offset + limit])

    def _search(self, search: str) -> list[Described]:
        """Documents whose id or title begins with the words, or has them, then those whose text has them."""
        wanted = " ".join(search.casefold().split())
        rows = self.rows()
        names = [(row, (row.title.casefold(), row.id.casefold())) for row in rows.values()]
        first = [row for row, named in names if any(name.startswith(wanted) for name in named)]
        inside = [row for row, named in names if any(wanted in name for name in named)]
        text: list[str] = []
        with suppress(LibraryError):  # a library that has no full-text index yet is searched by name alone
            text = self._library.find_ids(search, FOUND)
        return list({row.id: row for row in [*first, *inside, *(rows[id] for id in text if id in rows)]}.values())
