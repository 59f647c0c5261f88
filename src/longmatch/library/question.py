"""What is asked of a library about one document: its terms, title and vector, held against rows of the store."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from longmatch.default.collection import length_lift
from longmatch.default.encoding import Encoding
from longmatch.lexical.mentions import coupling, own_terms, stacked
from longmatch.lexical.terms import Counts, Hashes, Ints, Terms
from longmatch.lexical.weights import TermMatrix, Weighted, tfidf
from longmatch.library.index.index import Index
from longmatch.library.index.terms import KINDS, Asked, Floats, Held, running
from longmatch.library.rows import DocumentRow


@dataclass(frozen=True)
class Question:
    """A document, of the library or not, ready to be held against the others."""

    id: str
    asked: Mapping[str, Asked]  # by words and by phrases, those of the title among them
    words: int
    title: Counts
    name: Hashes
    vector: npt.NDArray[np.float32]

    @staticmethod
    def of(row: DocumentRow, index: Index) -> "Question":
        """By its terms and its vector, as the store has them."""
        return _question(row.id, row.terms(), row.title_counts(), row.title_terms(), row.array("mean"), index)

    @staticmethod
    def of_encoding(query: Encoding, index: Index) -> "Question":
        """Of a document as it was encoded."""
        return _question(query.document.id, query.terms, query.title, query.name, query.mean.numpy(), index)

    def sides(self, rows: Sequence[DocumentRow], index: Index, names: Sequence[str]) -> dict[str, Floats]:
        """The similarity on the sides asked for, by all terms of the documents; meaning, which costs most, left out."""
        found = {}
        if {*KINDS, "titled", "named", "length"} & set(names):
            ids = [row.id for row in rows]
            streams = running([row.terms().words for row in rows])
            held = {kind: self.asked[kind].held(*streams[kind]) for kind in KINDS if {kind, "named"} & set(names)}
            found = {k: self.asked[k].scores(held[k], index.norms(k, ids)) for k in KINDS if k in names}
            if "titled" in names:
                asked = index.asked("words", self.title)
                found["titled"] = asked.scores(asked.held(*streams["words"]), index.norms("words", ids))
            lengths = np.bincount(streams["words"][1], minlength=len(rows))
            if "length" in names:
                found["length"] = length_lift(self.words, lengths, index.usual_length)
            if "named" in names:
                found["named"] = self._named(index.title_terms(ids), lengths, held, index)
        if "title" in names:
            found["title"] = self._titles(rows, index)
        if "topic" in names:
            found["topic"] = np.asarray(np.stack([row.array("mean") for row in rows]) @ self.vector, dtype=np.float64)
        return found

    def _named(self, titles: Hashes, lengths: Ints, held: Mapping[str, Held], index: Index) -> Floats:
        """What of the library both name. The terms of all that this document names are among those asked for."""
        names = index.titles.named(np.union1d(*(self.asked[kind].ids for kind in KINDS)), stacked([self.name]))
        pairs = [own_terms(titles)]
        for kind, one in held.items():
            ids = self.asked[kind].ids
            wanted = np.isin(ids, names.ids)[one.term]
            pairs.append((one.document[wanted], ids[one.term[wanted]]))
        documents, terms = (np.concatenate(parts) for parts in zip(*pairs, strict=True))
        rarity = index.rarity_of(names.ids, names.ids).of_names(names)
        return coupling(names.found(documents, terms, len(titles)), rarity, self.words, lengths)

    def _titles(self, rows: Sequence[DocumentRow], index: Index) -> Floats:
        """The documents' titles with the words of this one."""
        titles = [row.title_counts() for row in rows]
        rarity = index.blend("words", np.concatenate([title.ids for title in titles]))
        words = self.asked["words"]
        return TermMatrix.of([tfidf(title, rarity) for title in titles]).scores(Weighted(words.ids, words.weights))


def _question(
    id: str, terms: Terms, title: Counts, name: Hashes, vector: npt.NDArray[np.float32], index: Index
) -> Question:
    asked = {kind: index.asked(kind, getattr(terms, kind).counts, name) for kind in KINDS}
    return Question(id, asked, len(terms.words.ids), title, name, vector)
