"""The worker that encodes: it opens a model and writes what it encodes straight into the library's store."""

import socket
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from longmatch.documents.document import Document
from longmatch.library.errors import LibraryError, NotALibrary

if TYPE_CHECKING:
    from longmatch.default.matcher import HybridMatcher

Make = Callable[[], "HybridMatcher"]

TOGETHER = 64  # documents encoded at a time


@dataclass(frozen=True)
class Picked:
    """A document of a block that has to be encoded, under the id it goes by."""

    place: int
    id: str
    source: str


@dataclass
class Step:
    """Documents that one worker encodes and writes as one part of the store."""

    number: int = 0
    blocks: list[Any] = field(default_factory=list)  # references to the documents of whole blocks
    picked: list[list[Picked]] = field(default_factory=list)  # of each block
    documents: int = 0
    characters: int = 0
    files: list[dict[str, Any]] = field(default_factory=list)  # that end here

    @property
    def ids(self) -> list[str]:
        """The documents."""
        return [one.id for some in self.picked for one in some]


class Encoder:
    """An actor; nothing is loaded before `ready`, so that what goes wrong there is said as it is."""

    def __init__(self, address: str, make: Make, threads: int) -> None:
        self._address, self._make, self._threads = address, make, threads

    def ready(self) -> None:
        """Load the model, and see that it is the library's."""
        from longmatch.encoders.threads import limit_threads
        from longmatch.library.model import checked_matcher
        from longmatch.library.store import Store

        limit_threads(self._threads)
        try:
            store = Store.open(self._address)
        except NotALibrary as error:
            raise LibraryError(
                f"{self._address} is not there on the machine {socket.gethostname()}. Put the library where all "
                "machines of the cluster find it: a shared folder, or an address of object storage."
            ) from error
        self._matcher = checked_matcher(self._make(), store)
        self._vector_type = store.model.vectors

    def encode(self, picked: Sequence[Sequence[Picked]], *blocks: Sequence[Document]) -> tuple[list[str], int]:
        """Encode and write documents; the parts of the store that hold them, and how many tokens they have."""
        import pyarrow as pa

        from longmatch.distributed.fragments import write_fragments
        from longmatch.library.rows import to_table

        documents = [
            replace(block[one.place], id=one.id, source=one.source)
            for block, some in zip(blocks, picked, strict=True)
            for one in some
        ]
        tables, tokens = [], 0
        for start in range(0, len(documents), TOGETHER):
            encodings = self._matcher.encode(documents[start : start + TOGETHER])
            tables.append(to_table(encodings, self._vector_type))
            tokens += sum(int(encoding.sentences.lengths.sum()) for encoding in encodings)
        return write_fragments(self._address, pa.concat_tables(tables)), tokens
