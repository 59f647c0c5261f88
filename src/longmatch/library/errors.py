"""Errors of a library, as one sentence each."""

from collections.abc import Sequence
from difflib import get_close_matches

from longmatch.documents.document import brief
from longmatch.errors import LongmatchError
from longmatch.matching.wording import count

MOST_SPELT = 10_000  # ids compared letter by letter


class LibraryError(LongmatchError):
    """A library cannot do what was requested."""


class NotALibrary(LibraryError):
    """A folder or address that is not a library."""


def check_count(k: int) -> None:
    """Refuse a number of results that is less than one."""
    if k < 1:
        raise LibraryError("k is invalid: Input should be greater than or equal to 1.")


def unknown_query(query: object, place: object, list_ids: str = "", ids: Sequence[str] = ()) -> LibraryError:
    """The error for a query that is neither a file nor an id; `list_ids` is the command that lists the ids."""
    listing = f", list the ids ({list_ids})" if list_ids else ""
    return LibraryError(
        f"{brief(str(query), 100)} is neither a file nor the id of a document in {place}.{similar_id(query, ids)} "
        f"Check the name{listing}, or pass a text: longmatch rank --text, or - for standard input."
    )


def similar_id(wanted: object, ids: Sequence[str]) -> str:
    """A question with the id that is likely meant: that of the same file in some folder, else one spelt alike.

    >>> similar_id("a.txt", ["cases/a.txt", "b.txt"]), similar_id("repot.md", ["report.md"]), similar_id("x", ["y"])
    (' Did you mean cases/a.txt?', ' Did you mean report.md?', '')
    """
    name = str(wanted)
    meant = [id for id in ids if id.endswith(f"/{name}")] or get_close_matches(name, ids[:MOST_SPELT], 1)
    return f" Did you mean {meant[0]}?" if meant else ""


class IndexingStopped(KeyboardInterrupt):
    """Ctrl-C while a library was indexed, and what it keeps.

    >>> str(IndexingStopped("papers", 30, 36))
    'stopped. papers keeps 36 documents, 6 of them new; run the same command again to resume.'
    >>> str(IndexingStopped("papers", 30, 30))
    'stopped. papers keeps 30 documents, none of them new; run the same command again to start from the beginning.'
    """

    def __init__(self, address: str, before: int, after: int) -> None:
        new = max(0, after - before)
        kept = f"{count(after, 'document')}, {f'{new:,}' if new else 'none'} of them new" if after else "nothing yet"
        again = "resume" if new else "start from the beginning"
        super().__init__(f"stopped. {address} keeps {kept}; run the same command again to {again}.")
        self.documents, self.new = after, new
