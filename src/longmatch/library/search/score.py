"""Step 3: scores. The default score of a query with candidates from the store, by the terms of the whole library."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from longmatch.default.collection import stack_title_vectors
from longmatch.default.sides import Floats, similarities
from longmatch.default.statistics import Statistics
from longmatch.lexical.mentions import coupling, self_mentions, stack_titles
from longmatch.lexical.terms import KINDS, Ints, Kind
from longmatch.library.index.terms import Occurrences, Postings
from longmatch.library.row_cache import CandidateRow, TermRow
from longmatch.library.search.encode import Query
from longmatch.library.store import Store
from longmatch.matching.levels import SentenceVectors, collection_scores
from longmatch.ragged import Array, as_numbers, offsets_of

MEANING = "meaning"
SHORTLIST = 3  # candidates for each hit asked for whose sentences are compared
LEAST_SHOWN = 10  # hits
ON_THE_LINE = 5  # candidates by which the others' sentence scores are estimated


class StoredComparison:
    """A query and rows of the store, as the sides read them; a side that is not asked for costs nothing."""

    def __init__(self, query: Query, rows: Sequence[TermRow]) -> None:
        self.query, self.rows, self.index = query, rows, query.index
        self.query_vector = query.vector
        self.query_words = query.words
        self.ids = [row.id for row in rows]
        self._known_terms: dict[Kind, Occurrences] = {}
        self._known_postings: dict[Kind, Postings] = {}

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
        return np.stack([row.mean for row in self.rows])

    @property
    def title_vectors(self) -> Array:
        """(rows, width)"""
        return stack_title_vectors([row.title_vector for row in self.rows], self.query_sentences)

    @cached_property
    def candidate_words(self) -> Ints:
        """The number of words of each row."""
        return np.array([row.running_words for row in self.rows], dtype=np.int64)

    def term_cosines(self, kind: Kind) -> Floats:
        """From all terms of the rows, not only those that the index finds them by."""
        return self.query.terms[kind].scores(self._postings(kind), self.index.norms(kind, self.ids))

    def sentence_scores(self) -> Floats:
        """One product with the sentences of all rows."""
        sentences = [row.sentence_vectors() for row in self.rows if isinstance(row, CandidateRow)]
        return sentence_scores(self.query.encoding.sentence_vectors, sentences)

    def title_cosines(self) -> Floats:
        """The titles with the query's words."""
        titles, words = Occurrences.of([row.title_words for row in self.rows]), self.query.terms["words"]
        return words.scores(words.postings(titles), titles.norms(self.index.rarity.words.idf(titles.term)))

    def query_title_cosines(self) -> Floats:
        """The query's title with the words of each row."""
        title = self.index.query_terms("words", self.query.title_words)
        return title.scores(title.postings(self._held("words")), self.index.norms("words", self.ids))

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
        rarity = self.index.rarity.of_mentions(mentions)
        shared = mentions.in_documents(documents, found, len(self.rows))
        return coupling(shared, rarity, self.query.words, self.candidate_words)

    def _held(self, kind: Kind) -> Occurrences:
        """All words or phrases of the rows."""
        if kind not in self._known_terms:
            self._known_terms[kind] = Occurrences.of([row.terms[kind] for row in self.rows])
        return self._known_terms[kind]

    def _postings(self, kind: Kind) -> Postings:
        """Those that the query has too."""
        if kind not in self._known_postings:
            self._known_postings[kind] = self.query.terms[kind].postings(self._held(kind))
        return self._known_postings[kind]


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


def score_candidates(
    query: Query, ids: Sequence[str], store: Store, statistics: Statistics, most: int | None = None
) -> Scored:
    """The candidates, best first; ties break by id. If only the best `most` are asked for, the others may be missing.

    To compare sentences takes longer than all other sides together. So of many candidates only those are scored to the
    end that are among the best by an estimate of it.
    """
    rows = store.candidates(ids)
    if not rows:
        return Scored([], {}, np.zeros(0), np.zeros(0))
    comparison, rarity = StoredComparison(query, rows), query.index.rarity
    names = rarity.sides(statistics)
    values = similarities(comparison, [name for name in names if name != MEANING])
    lengths = comparison.candidate_words
    if MEANING in names:
        if most is not None and len(rows) > SHORTLIST * max(most, LEAST_SHOWN):
            estimated = {**values, MEANING: estimated_meaning(query, rows)}
            guess, _ = rarity.judge(estimated, query.words, lengths, statistics)
            kept = np.argsort(-guess, kind="stable")[: SHORTLIST * max(most, LEAST_SHOWN)]
            rows, lengths = [rows[i] for i in kept], lengths[kept]
            values = {name: known[kept] for name, known in values.items()}
        values = {**values, MEANING: sentence_scores(query.encoding.sentence_vectors, _sentences(rows))}
    judged = rarity.judge(values, query.words, lengths, statistics)
    found = Scored([row.id for row in rows], values, *judged)
    return found.at(sorted(range(len(rows)), key=lambda i: (-found.scores[i], found.ids[i])))


def estimated_meaning(query: Query, rows: Sequence[CandidateRow]) -> Floats:
    """The sentence scores as a line over the cosines of the documents' vectors, drawn through those of a few rows."""
    topic = as_numbers(np.stack([row.mean for row in rows]) @ query.vector)
    few = np.argsort(topic, kind="stable")[np.linspace(0, len(rows) - 1, ON_THE_LINE).astype(np.int64)]
    known = sentence_scores(query.encoding.sentence_vectors, _sentences([rows[i] for i in few]))
    design = np.stack([topic[few], np.ones(len(few))], axis=1)
    slope, start = np.linalg.lstsq(design, known, rcond=None)[0]
    return np.asarray((start + slope * topic).clip(min=0))


def sentence_scores(query: SentenceVectors, documents: Sequence[SentenceVectors]) -> Floats:
    """The corrected sentence score of a query with each document, both directions averaged."""
    offsets = offsets_of(np.array([len(d) for d in documents], dtype=np.int64))
    return as_numbers(collection_scores(query, SentenceVectors.cat(documents), offsets))


def _sentences(rows: Sequence[CandidateRow]) -> list[SentenceVectors]:
    return [row.sentence_vectors() for row in rows]
