"""Encode a library again, with another model, from the texts it stores."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass

from longmatch.default.matcher import HybridMatcher
from longmatch.library.errors import NotALibrary
from longmatch.library.model import LibraryModel
from longmatch.library.rows import DOCUMENT_COLUMNS, VectorType, to_table
from longmatch.library.store import REENCODED, Store

OnDocuments = Callable[[int], None]  # called with the number of documents just encoded


@dataclass(frozen=True)
class Reencoder:
    """Encodes all documents of a library again."""

    store: Store
    base: HybridMatcher  # without the library's adapter
    lock: Callable[[], AbstractContextManager[None]]
    encode: Callable[[HybridMatcher, OnDocuments | None], Store]  # needs the lock; returns the new store


def reencode(
    store: Store, matcher: HybridMatcher, vector_type: VectorType, on_documents: OnDocuments | None = None
) -> Store:
    """Encode all documents into a second table, and replace the first by it in one commit.

    If interrupted, the next call with the same model resumes; documents that have changed since are encoded again.
    """
    target = _open_target(store.address, LibraryModel.of(matcher, vector_type))
    done = _still_current(target, store)
    for rows in store.batches(DOCUMENT_COLUMNS):
        remaining = [row for row in rows if row.id not in done]
        if remaining:
            target.put(to_table(matcher.encode([row.document() for row in remaining]), vector_type))
        if on_documents:
            on_documents(len(rows))
    store.replace_documents(target)
    return Store.open(store.address)


def _still_current(target: Store, store: Store) -> set[str]:
    """The ids of the documents in `target` that are the same in `store`; the others are removed from it."""
    encoded, stored = (
        {row["id"]: row for row in each.read(["id", "hash", "source"]).to_pylist()} for each in (target, store)
    )
    stale = [id for id, row in encoded.items() if stored.get(id) != row]
    if stale:
        target.delete(stale)
    return encoded.keys() - set(stale)


def _open_target(address: str, model: LibraryModel) -> Store:
    """The table to fill: that of an interrupted run if it has the same model, or a new one."""
    try:
        target = Store.open(address, REENCODED)
    except NotALibrary:
        return Store.create(address, model, REENCODED)
    if target.model != model or target.lacks_columns:
        target.drop()
        return Store.create(address, model, REENCODED)
    return target
