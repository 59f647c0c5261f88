"""The worker that encodes: it loads the model and writes encoded documents directly into the library's store."""

import socket
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from longmatch.documents.document import Document
from longmatch.library.errors import LibraryError, NotALibrary

if TYPE_CHECKING:
    from longmatch.default.matcher import HybridMatcher

MakeMatcher = Callable[[], "HybridMatcher"]

BATCH = 64  # documents encoded together


@dataclass(frozen=True)
class DocumentToEncode:
    """A document to encode: its position in its block, and its id and source in the library."""

    position: int
    id: str
    source: str


@dataclass
class EncodingStep:
    """Documents that one worker encodes and writes as fragments of the store."""

    number: int = 0
    blocks: list[Any] = field(default_factory=list)  # Ray references to the documents of whole blocks
    selected: list[list[DocumentToEncode]] = field(default_factory=list)  # of each block
    documents: int = 0
    characters: int = 0
    files: list[dict[str, Any]] = field(default_factory=list)  # complete with this step

    @property
    def ids(self) -> list[str]:
        """Ids of the documents."""
        return [document.id for block in self.selected for document in block]


class EncodeWorker:
    """A Ray actor. Nothing is loaded before `ready`, so that its errors reach the user as they are."""

    def __init__(self, address: str, make_matcher: MakeMatcher | None, threads: int) -> None:
        self._address, self._make_matcher, self._threads = address, make_matcher, threads

    def ready(self) -> None:
        """Load the model and check that it is the library's."""
        from longmatch.encoders.hardware import limit_threads
        from longmatch.library.model import checked_matcher
        from longmatch.library.store import Store

        limit_threads(self._threads)
        try:
            store = Store.open(self._address)
        except NotALibrary as error:
            raise LibraryError(
                f"{self._address} does not exist on the machine {socket.gethostname()}. Put the library where all "
                "machines of the cluster can reach it: a shared folder or object storage."
            ) from error
        made = self._make_matcher() if self._make_matcher else store.model.load_matcher(self._address)
        self._matcher = checked_matcher(made, store)
        self._vector_type = store.model.vectors

    def encode(
        self, selected: Sequence[Sequence[DocumentToEncode]], *blocks: Sequence[Document]
    ) -> tuple[list[str], int]:
        """Encode and write the selected documents of some blocks; returns the fragments and the number of tokens."""
        import pyarrow as pa

        from longmatch.distributed.fragments import write_fragments
        from longmatch.library.rows import to_table

        documents = [
            replace(block[document.position], id=document.id, source=document.source)
            for block, chosen in zip(blocks, selected, strict=True)
            for document in chosen
        ]
        tables, tokens = [], 0
        for start in range(0, len(documents), BATCH):
            encodings = self._matcher.encode(documents[start : start + BATCH])
            tables.append(to_table(encodings, self._vector_type))
            tokens += sum(int(encoding.sentences.lengths.sum()) for encoding in encodings)
        return write_fragments(self._address, pa.concat_tables(tables)), tokens
