"""What is asked of a library about one document: its terms, title and vector, held against rows of the store."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from longmatch.library.index.index import Index
from longmatch.library.index.terms import KINDS, Asked, Floats, running
from longmatch.library.rows import Row
from longmatch.models.hybrid.encoding import Encoding
from longmatch.models.lexical.terms import Counts
from longmatch.models.lexical.weights import TermMatrix, Weighted, tfidf


@dataclass(frozen=True)
class Question:
    """A document, of the library or not, ready to be held against the others."""

    id: str
    asked: Mapping[str, Asked]  # by words and by phrases
    title: Counts
    vector: npt.NDArray[np.float32]

    @staticmethod
    def of(row: Row, index: Index) -> "Question":
        """By its terms and its vector, as the store has them."""
        terms = row.terms()
        asked = {kind: index.asked(kind, getattr(terms, kind).counts) for kind in KINDS}
        return Question(row.id, asked, row.title(), row.array("mean"))

    @staticmethod
    def of_encoding(query: Encoding, index: Index) -> "Question":
        """Of a document as it was encoded."""
        asked = {kind: index.asked(kind, getattr(query.terms, kind).counts) for kind in KINDS}
        return Question(query.document.id, asked, query.title, query.mean.numpy())

    def sides(self, rows: Sequence[Row], index: Index, names: Sequence[str]) -> dict[str, Floats]:
        """The similarity on the sides asked for, by all terms of the documents; meaning, which costs most, left out."""
        found = {}
        if {"words", "phrases", "titled"} & set(names):
            streams = running([row.terms().words for row in rows])
            for name, kind, asked in self._by_terms(names, index):
                found[name] = asked.scores(*streams[kind], index.norms(kind, [row.id for row in rows]))
        if "title" in names:
            found["title"] = self._titles(rows, index)
        if "topic" in names:
            found["topic"] = np.asarray(np.stack([row.array("mean") for row in rows]) @ self.vector, dtype=np.float64)
        return found

    def _by_terms(self, names: Sequence[str], index: Index) -> list[tuple[str, str, Asked]]:
        """The sides that look for terms in the documents: their name, the kind of terms, and which."""
        asked = [(kind, kind, self.asked[kind]) for kind in KINDS if kind in names]
        return [*asked, ("titled", "words", index.asked("words", self.title))] if "titled" in names else asked

    def _titles(self, rows: Sequence[Row], index: Index) -> Floats:
        """The documents' titles with the words of this one."""
        titles = [row.title() for row in rows]
        rarity = index.blend("words", np.concatenate([title.ids for title in titles]))
        words = self.asked["words"]
        return TermMatrix.of([tfidf(title, rarity) for title in titles]).scores(Weighted(words.ids, words.weights))
