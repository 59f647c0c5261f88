"""Changes to a library: first the store, in one commit, then the index that is derived from it."""

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import pyarrow as pa

from longmatch.default.matcher import HybridMatcher
from longmatch.documents.document import Document
from longmatch.lexical.mentions import stack_titles
from longmatch.lexical.terms import KINDS
from longmatch.library.errors import in_a_sentence
from longmatch.library.index.index import Index
from longmatch.library.rows import TERMS, Row, rows_of, to_table
from longmatch.library.store import Store
from longmatch.units import Tokens

TOGETHER = 256  # documents whose terms are in memory at a time
STALE = 0.02  # share of documents that may come or go before the norms of the others are made again


class Writer:
    """Keeps the store and the index in step."""

    def __init__(self, store: Store, index: Index, matcher: Callable[[], HybridMatcher]) -> None:
        self.store, self.index, self._matcher = store, index, matcher

    def tokenize(self, documents: Sequence[Document]) -> list[Tokens]:
        """The tokens of documents: the first of three steps."""
        return self._matcher().tokenize(documents)

    def encode(self, documents: Sequence[Tokens], report: Callable[[int], None]) -> pa.Table:
        """Rows for the store: the second step."""
        return to_table(self._matcher().encode_tokens(documents, report), self.store.facts.vectors)

    def put(self, rows: pa.Table) -> None:
        """Store documents: the third step."""
        old = self.store.fetch(rows["id"].to_pylist(), TERMS)
        self.store.put(rows)
        with in_a_sentence(self.store.address):
            self._forget(old)
            take_in(self.index, rows_of(rows))
            self.index.save(self.store.version)

    def remove(self, ids: Sequence[str]) -> None:
        """Remove documents."""
        old = self.store.fetch(ids, TERMS)
        self.store.delete(ids)
        with in_a_sentence(self.store.address):
            self._forget(old)
            self.index.save(self.store.version)

    def follow(self, commit: Callable[[], None], gone: Sequence[str]) -> None:
        """Bring the index up to date with a commit of the store that is made elsewhere and takes documents away."""
        for start in range(0, len(gone), TOGETHER):
            self._forget(self.store.fetch(gone[start : start + TOGETHER], TERMS))
        commit()
        with in_a_sentence(self.store.address):
            heal(self.index, self.store)
            self.index.save(self.store.version)

    def _forget(self, rows: Sequence[Row]) -> None:
        if rows:
            self.index.remove([row.id for row in rows], [row.terms() for row in rows])

    def finish(self, exact_below: int) -> None:
        """Leave everything tidy: few segments, true norms, joined commits."""
        self.store.tidy(exact_below)
        with in_a_sentence(self.store.address):
            if self.index.stale > STALE * len(self.index):
                self.index.merge()
                refresh_norms(self.index, self.store)
            self.index.save(self.store.version)


def take_in(index: Index, rows: Sequence[Row]) -> None:
    """Add documents of the store to the index."""
    means = np.stack([row.array("mean") for row in rows])
    hashes = [str(row.value("hash")) for row in rows]
    titles = stack_titles([row.name() for row in rows])
    index.add([row.id for row in rows], hashes, [row.terms() for row in rows], titles, means)


def refresh_norms(index: Index, store: Store) -> None:
    """Make the norms of all documents again, by the frequencies as they are now."""
    norms: dict[str, dict[str, float]] = {kind: {} for kind in KINDS}
    for rows in store.batches(TERMS):
        found = index.norms_of([row.terms() for row in rows])
        for kind in KINDS:
            norms[kind] |= {row.id: float(norm) for row, norm in zip(rows, found[kind], strict=True)}
    index.set_norms(norms)


def _rows_of(store: Store, ids: Sequence[str], documents: int) -> Iterator[list[Row]]:
    """The terms of some documents, looked up, or picked from all where that is quicker."""
    if len(ids) < documents // 4:
        yield from (store.fetch(ids[start : start + TOGETHER], TERMS) for start in range(0, len(ids), TOGETHER))
        return
    wanted = set(ids)
    for rows in store.batches(TERMS, TOGETHER) if ids else ():
        if found := [row for row in rows if row.id in wanted]:
            yield found


def heal(index: Index, store: Store) -> None:
    """Bring an index that is behind its store up to date; where documents are gone unnoticed, make it again."""
    listed = store.read(["id", "hash"])
    wanted = dict(zip(listed["id"].to_pylist(), listed["hash"].to_pylist(), strict=True))
    held = index.documents()
    if any(wanted.get(id) != hash for id, hash in held.items()):
        index.segments, index.dead, held = [], [], {}
    for rows in _rows_of(store, [id for id in wanted if id not in held], len(wanted)):
        take_in(index, rows)
    if index.stale > STALE * len(wanted):
        refresh_norms(index, store)
    index.version = store.version
