"""Encoding a library again, with another model, from the texts it holds."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass

from longmatch.default.matcher import HybridMatcher
from longmatch.library.errors import NotALibrary
from longmatch.library.facts import Facts
from longmatch.library.rows import DOCUMENT, to_table
from longmatch.library.store import REENCODED, Store
from longmatch.library.vectors import Kind

Report = Callable[[int], None]
Stages = Callable[[str, int, int], None]  # what is being done, how much of it is, and how much there is


@dataclass(frozen=True)
class Reencoder:
    """What it takes to encode all documents of a library again."""

    store: Store
    base: HybridMatcher  # as it is without what the library has learnt
    writing: Callable[[], AbstractContextManager[None]]  # holds the library's lock
    encode: Callable[[HybridMatcher, Report | None], Store]  # while it is held; the store is then another


def reencode(store: Store, matcher: HybridMatcher, kind: Kind, report: Report | None = None) -> Store:
    """Encode all documents with a matcher, beside the old ones, and put them in their place in one commit.

    Interrupted, it goes on where it stopped, as long as the model is the same.
    """
    fresh = _beside(store.address, Facts.of(matcher, kind))
    done = set(fresh.read(["id"])["id"].to_pylist())
    for rows in store.batches(DOCUMENT):
        left = [row for row in rows if row.id not in done]
        if left:
            fresh.put(to_table(matcher.encode([row.document() for row in left]), kind))
        if report:
            report(len(rows))
    store.become(fresh)
    return Store.open(store.address)


def counted(report: Stages | None, documents: int) -> Report:
    """Tells of documents encoded again, a few at a time, as of a stage of longer work."""
    done = 0

    def tell(count: int) -> None:
        nonlocal done
        done += count
        if report:
            report("encoding again", done, documents)

    return tell


def _beside(address: str, facts: Facts) -> Store:
    """The table that is being filled: the one an interrupted run left, if it was of this model."""
    try:
        found = Store.open(address, REENCODED)
    except NotALibrary:
        return Store.create(address, facts, REENCODED)
    if found.facts != facts or found.lacks_columns:
        found.drop()
        return Store.create(address, facts, REENCODED)
    return found
