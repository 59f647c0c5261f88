"""Which documents are new, changed, unchanged or gone, and the id each goes by."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from longmatch.library.files import Sources, Survey
from longmatch.library.store import Store


@dataclass
class Added:
    """What indexing did."""

    added: list[str] = field(default_factory=list)  # ids
    replaced: list[str] = field(default_factory=list)
    unchanged: int = 0  # documents
    vanished: list[str] = field(default_factory=list)  # ids whose file is gone, and which are still in the library
    removed: list[str] = field(default_factory=list)
    unreadable: list[tuple[str, str]] = field(default_factory=list)  # file, and a sentence

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "added": self.added,
            "replaced": self.replaced,
            "unchanged": self.unchanged,
            "vanished": self.vanished,
            "removed": self.removed,
            "unreadable": [{"file": file, "problem": problem} for file, problem in self.unreadable],
        }


class Claims:
    """What a run of indexing decides, document by document in the order of the files."""

    def __init__(self, store: Store, sources: Sources, prune: bool) -> None:
        self.sources, self.prune = sources, prune
        rows = store.read(["id", "hash", "source"])
        columns = (rows[name].to_pylist() for name in ("id", "hash", "source"))
        self.known: dict[str, tuple[str, str]] = {id: (hash, source) for id, hash, source in zip(*columns, strict=True)}
        self.of_source: dict[str, set[str]] = defaultdict(set)  # the ids each file had before
        for id, (_, source) in self.known.items():
            self.of_source[source].add(id)
        self.claimed: set[str] = set()
        self.done = Added()

    def begin(self, found: Survey) -> None:
        """Keep the documents of files that have not changed, and note what is known to be wrong."""
        for source in found.unchanged:
            ids = self.of_source.get(source, set())
            self.claimed |= ids
            self.done.unchanged += len(ids)
        self.done.unreadable += [(error.path, str(error)) for error in found.problems]
        self.done.unreadable += [(str(self.sources.path(file)), problem) for file, problem in found.known_problems]

    def take(self, wanted: str, hash: str, source: str) -> tuple[str, bool]:
        """The id a document of this content goes by, and whether it has to be encoded."""
        id = self._id(wanted, source)
        self.claimed.add(id)
        if self.known.get(id) == (hash, source):
            self.done.unchanged += 1
            return id, False
        (self.done.replaced if id in self.known else self.done.added).append(id)
        self.known[id] = hash, source
        return id, True

    def _id(self, wanted: str, source: str) -> str:
        """The document's own id, or the first of `id (2)`, `id (3)` ... that no other document has."""
        id, count = wanted, 1
        while id in self.claimed or not self._is_free(id, source):
            count += 1
            id = f"{wanted} ({count})"
        return id

    def _is_free(self, id: str, source: str) -> bool:
        """Whether an id is new, or that of this file's document, or of one whose file is gone."""
        if id not in self.known or self.known[id][1] == source:
            return True
        return not self.sources.path(self.known[id][1]).exists()

    def of_gone(self, found: Survey) -> list[str]:
        """The documents of files that are gone."""
        return sorted(id for source in found.gone for id in self.of_source.get(source, ()))

    def miss(self, ids: Sequence[str]) -> tuple[list[str], list[str]]:
        """Documents that are no longer in their file: those to remove, and those that stay without one."""
        ids = [id for id in ids if id not in self.claimed]
        (self.done.removed if self.prune else self.done.vanished).extend(ids)
        return (ids, []) if self.prune else ([], ids)
