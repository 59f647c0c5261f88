"""Step 3: scores. The default score of a query with candidates from the store, by the terms of the whole library."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from longmatch.default.collection import stack_title_vectors
from longmatch.default.sides import Floats, similarities
from longmatch.default.statistics import Statistics
from longmatch.lexical.mentions import coupling, self_mentions, stack_titles
from longmatch.lexical.terms import KINDS, Hashes, Ints, Kind
from longmatch.lexical.weights import TermMatrix, Weighted, tfidf
from longmatch.library.index.terms import Postings, running_terms
from longmatch.library.row_cache import DecodedRow
from longmatch.library.rows import DocumentRow
from longmatch.library.search.encode import Query
from longmatch.library.store import Store
from longmatch.matching.levels import SentenceVectors, collection_scores
from longmatch.ragged import Array, as_numbers, offsets_of


class StoredComparison:
    """A query and rows of the store, as the sides read them; a side that is not asked for costs nothing."""

    def __init__(self, query: Query, rows: Sequence[DocumentRow | DecodedRow]) -> None:
        self.query, self.rows, self.index = query, rows, query.index
        self.query_vector = query.vector
        self.query_words = query.words
        self.ids = [row.id for row in rows]

    @property
    def query_sentences(self) -> Array:
        """(sentences, width)"""
        return self.query.encoding.sentence_vectors.vectors

    @property
    def usual_words(self) -> float:
        """Of a document of the library."""
        return self.index.usual_length

    @property
    def candidate_vectors(self) -> Array:
        """(rows, width)"""
        return np.stack([row.array("mean") for row in self.rows])

    @property
    def title_vectors(self) -> Array:
        """(rows, width)"""
        return stack_title_vectors([row.title_vector() for row in self.rows], self.query_sentences)

    @cached_property
    def candidate_words(self) -> Ints:
        """The number of words of each row."""
        return np.bincount(self._streams["words"][1], minlength=len(self.rows))

    def term_cosines(self, kind: Kind) -> Floats:
        """From all terms of the rows, not only those that the index finds them by."""
        return self.query.terms[kind].scores(self._postings(kind), self.index.norms(kind, self.ids))

    def sentence_scores(self) -> Floats:
        """One product with the sentences of all rows."""
        return sentence_scores(self.query.encoding.sentence_vectors, self.rows)

    def title_cosines(self) -> Floats:
        """The titles with the query's words."""
        titles = [row.title_words() for row in self.rows]
        idf = self.index.blend("words", np.concatenate([title.ids for title in titles]))
        words = self.query.terms["words"]
        return TermMatrix.of([tfidf(title, idf) for title in titles]).scores(Weighted(words.ids, words.weights))

    def query_title_cosines(self) -> Floats:
        """The query's title with the words of each row."""
        title = self.index.query_terms("words", self.query.title_words)
        return title.scores(title.postings(*self._streams["words"]), self.index.norms("words", self.ids))

    def coupling(self) -> Floats:
        """The titles that the query mentions, looked for in the rows; its terms are among those of the query."""
        terms = np.union1d(*(self.query.terms[kind].ids for kind in KINDS))
        mentions = self.index.titles.mentioned(terms, stack_titles([self.query.title_terms]))
        pairs = [self_mentions(self.index.title_terms(self.ids))]
        for kind in KINDS:
            ids, postings = self.query.terms[kind].ids, self._postings(kind)
            wanted = np.isin(ids, mentions.ids)[postings.term]
            pairs.append((postings.document[wanted], ids[postings.term[wanted]]))
        documents, found = (np.concatenate(parts) for parts in zip(*pairs, strict=True))
        rarity = self.index.rarity_of(mentions.ids, mentions.ids).of_mentions(mentions)
        shared = mentions.in_documents(documents, found, len(self.rows))
        return coupling(shared, rarity, self.query.words, self.candidate_words)

    @cached_property
    def _streams(self) -> dict[Kind, tuple[Hashes, Ints]]:
        return running_terms([row.terms() for row in self.rows])

    def _postings(self, kind: Kind) -> Postings:
        if kind not in self._known_postings:
            self._known_postings[kind] = self.query.terms[kind].postings(*self._streams[kind])
        return self._known_postings[kind]

    @cached_property
    def _known_postings(self) -> dict[Kind, Postings]:
        return {}


@dataclass(frozen=True)
class Scored:
    """Candidates with their similarities on each side, their scores and probabilities."""

    ids: list[str]
    similarities: Mapping[str, Floats]
    scores: Floats
    probabilities: Floats

    def at(self, places: Sequence[int] | Ints) -> "Scored":
        """Some of them."""
        values = {name: values[places] for name, values in self.similarities.items()}
        return Scored([self.ids[i] for i in places], values, self.scores[places], self.probabilities[places])

    def first(self, count: int) -> "Scored":
        """The first of them."""
        return self.at(range(min(count, len(self.ids))))


def score_candidates(query: Query, ids: Sequence[str], store: Store, statistics: Statistics) -> Scored:
    """The candidates, best first; ties break by id."""
    rows = store.score_rows(ids)
    if not rows:
        return Scored([], {}, np.zeros(0), np.zeros(0))
    comparison = StoredComparison(query, rows)
    rarity = query.index.rarity([])
    values = similarities(comparison, rarity.sides(statistics))
    judged = rarity.judge(values, query.words, comparison.candidate_words, statistics)
    found = Scored([row.id for row in rows], values, *judged)
    return found.at(sorted(range(len(rows)), key=lambda i: (-found.scores[i], found.ids[i])))


def sentence_scores(query: SentenceVectors, rows: Sequence[DocumentRow | DecodedRow]) -> Floats:
    """The corrected sentence score of a query with each row, both directions averaged."""
    documents = [row.sentence_vectors() for row in rows]
    offsets = offsets_of(np.array([len(d) for d in documents], dtype=np.int64))
    return as_numbers(collection_scores(query, SentenceVectors.cat(documents), offsets))
