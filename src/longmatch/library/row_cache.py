"""What scoring needs of documents, decoded and kept in memory between questions, within a limit."""

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Any

import numpy.typing as npt

from longmatch.encoders.backbone import Vectors
from longmatch.lexical.terms import Counts, Terms, words_in
from longmatch.library.rows import DocumentRow
from longmatch.matching.levels import SentenceVectors

MOST_BYTES = 256 << 20  # a thousand documents of four thousand words


@dataclass(frozen=True)
class DecodedRow:
    """A row of the store as arrays; it is asked as a `DocumentRow` is."""

    id: str
    title: str
    mean: Vectors
    decoded_terms: Terms
    vectors: SentenceVectors
    vector_of_title: Vectors | None

    @staticmethod
    def of(row: DocumentRow) -> "DecodedRow":
        """Decode a row; nothing of its table is kept."""
        title, mean = str(row.value("title")), row.array("mean").copy()
        return DecodedRow(row.id, title, mean, row.terms(), row.sentence_vectors(), row.title_vector())

    def terms(self) -> Terms:
        """The hashed words, sentence by sentence, and the phrases once they were asked for."""
        return self.decoded_terms

    def title_words(self) -> Counts:
        """The hashed words of the title."""
        return words_in(self.title)

    def sentence_vectors(self) -> SentenceVectors:
        """The sentence vectors with their expectations by chance."""
        return self.vectors

    def title_vector(self) -> Vectors | None:
        """The vector of the title; None in libraries that lack the column."""
        return self.vector_of_title

    def array(self, name: str) -> npt.NDArray[Any]:
        """The document's vector, `mean`."""
        if name != "mean":
            raise KeyError(name)
        return self.mean

    @property
    def size(self) -> int:
        """Bytes, with three words and phrases for each running word."""
        words = self.decoded_terms.words.ids.nbytes
        return int(self.vectors.vectors.nbytes + self.vectors.expectations.nbytes + 4 * words)


class RowCache:
    """The rows asked for last, of one version of a store."""

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self._most, self._held, self._version = most_bytes, 0, -1
        self._rows: OrderedDict[str, DecodedRow] = OrderedDict()
        self._lock = Lock()

    def rows(
        self, ids: Sequence[str], version: int, fetch: Callable[[Sequence[str]], Sequence[DocumentRow]]
    ) -> list[DecodedRow]:
        """The documents with these ids, in their order; unknown ids are skipped, unread ones are fetched."""
        with self._lock:
            if version != self._version:
                self._rows.clear()
                self._held, self._version = 0, version
            known = {id: self._rows[id] for id in ids if id in self._rows}
            for id in known:
                self._rows.move_to_end(id)
        read = {row.id: DecodedRow.of(row) for row in fetch([id for id in ids if id not in known])}
        with self._lock:
            if version == self._version:
                self._keep(read)
        found = known | read
        return [found[id] for id in ids if id in found]

    def _keep(self, rows: dict[str, DecodedRow]) -> None:
        for id, row in rows.items():
            if id not in self._rows:
                self._rows[id] = row
                self._held += row.size
        while self._held > self._most and self._rows:
            _, oldest = self._rows.popitem(last=False)
            self._held -= oldest.size
