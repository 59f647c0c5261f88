"""Step 3: scores. The default score of a query with candidates, by the terms of the whole library."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from longmatch.default.sides import Floats, similarities
from longmatch.default.statistics import Statistics
from longmatch.lexical.mentions import coupling, self_mentions, stack_titles
from longmatch.lexical.terms import KINDS, Flags, Ints, Kind, lookup
from longmatch.library.index.documents import language_number
from longmatch.library.index.segment import TITLE_WORDS, Segment
from longmatch.library.index.selection import Selection
from longmatch.library.index.terms import Postings
from longmatch.library.row_cache import StoredSentences
from longmatch.library.search.encode import Query
from longmatch.library.store import Store
from longmatch.matching.levels import (
    BothPartners,
    SentenceVectors,
    collection_partners,
    collection_scores,
    partners_score,
)
from longmatch.ragged import Array, as_numbers, offsets_of

MEANING = "meaning"
SHORTLIST = 3  # candidates for each hit asked for whose sentences are compared
LEAST_SHOWN = 10  # hits
HIGHEST = 1.01  # sentence score of any two documents, though vectors are rounded
ON_THE_LINE = 5  # candidates by which the others' sentence scores are estimated


class StoredComparison:
    """A query and documents of the index, as the sides read them; a side that is not asked for costs nothing."""

    def __init__(self, query: Query, candidates: Selection, store: Store) -> None:
        self.query, self.candidates, self.store, self.index = query, candidates, store, query.index
        self.query_vector = query.vector
        self.query_words = query.words
        self._known_postings: dict[Kind, Postings] = {}

    @property
    def query_sentences(self) -> Array:
        """(sentences, width)"""
        return self.query.encoding.sentence_vectors.vectors

    @property
    def usual_words(self) -> float:
        """Of a document of the library."""
        return self.index.usual_length

    @cached_property
    def candidate_vectors(self) -> Array:
        """(candidates, width)"""
        return self.candidates.column("means")

    @property
    def title_vectors(self) -> Array:
        """(candidates, width)"""
        return self.candidates.column("title_vectors").astype(self.query_sentences.dtype)

    @cached_property
    def candidate_words(self) -> Ints:
        """The number of words of each candidate."""
        return np.asarray(self.candidates.column("lengths"))

    @property
    def same_language(self) -> Flags | None:
        """Which candidates are in the query's language."""
        if self.index.statistics.reads_english_alone:
            return None
        return np.asarray(self.candidates.column("languages") == language_number(self.query.language))

    def term_cosines(self, kind: Kind) -> Floats:
        """From all terms of the candidates, not only those that the index finds them by."""
        return self.query.terms[kind].scores(self._postings(kind), self._norms(kind))

    def sentence_scores(self) -> Floats:
        """One product with the sentences of all candidates, all of which must be in the store."""
        return self.meaning_of(np.arange(len(self.candidates))).scores

    def meaning_of(self, candidates: Ints) -> "Meaning":
        """The sentences of some candidates, without those that another process has removed from the store."""
        ids = self.candidates.ids
        stored = {document.id: document for document in self.stored_sentences([ids[i] for i in candidates])}
        if not stored:
            return Meaning(candidates[:0], [])
        sentences = StoredSentences.unpack([*stored.values()])
        offsets = offsets_of(np.array([len(document) for document in stored.values()], dtype=np.int64))
        partners = collection_partners(self.query.encoding.sentence_vectors, sentences, offsets)
        present = np.array([ids[i] in stored for i in candidates], dtype=bool)
        return Meaning(candidates[present], partners)

    def stored_sentences(self, ids: Sequence[str]) -> list[StoredSentences]:
        """From the index, or from the store what has no record there; all from the store if it has changed since."""
        if self.index.version != self.store.version:
            return self.store.sentences(ids)
        records = self.index.select(ids).each(Segment.record)
        missing = [id for id, record in zip(ids, records, strict=True) if record is None]
        fetched = {document.id: document for document in self.store.sentences(missing)} if missing else {}
        found = (record.sentences if record else fetched.get(id) for id, record in zip(ids, records, strict=True))
        return [sentences for sentences in found if sentences is not None]

    def title_cosines(self) -> Floats:
        """The titles with the query's words."""
        titles, words = self.candidates.occurrences(TITLE_WORDS), self.query.terms["words"]
        return words.scores(words.postings(titles), titles.norms(self.index.rarity.words.idf(titles.term)))

    def query_title_cosines(self) -> Floats:
        """The query's title with the words of each candidate."""
        title = self.index.query_terms("words", self.query.title_words)
        return title.scores(self.candidates.find("words", title), self._norms("words"))

    def coupling(self) -> Floats:
        """The titles that the query mentions, looked for in the candidates; its terms are among those of the query."""
        terms = np.union1d(*(self.query.terms[kind].ids for kind in KINDS))
        mentions = self.index.titles.mentioned(terms, stack_titles([self.query.title_terms]))
        pairs = [self_mentions(self.candidates.column("titles"))]
        for kind in KINDS:
            ids, postings = self.query.terms[kind].ids, self._postings(kind)
            wanted = lookup(mentions.ids, ids)[1][postings.term]
            pairs.append((postings.document[wanted], ids[postings.term[wanted]]))
        documents, found = (np.concatenate(parts) for parts in zip(*pairs, strict=True))
        rarity = self.index.rarity.of_mentions(mentions)
        shared = mentions.in_documents(documents, found, len(self.candidates))
        return coupling(shared, rarity, self.query.words, self.candidate_words)

    def _norms(self, kind: Kind) -> Floats:
        """The lengths of the candidates' TF-IDF vectors."""
        return self.candidates.column(f"{kind}.norms").astype(np.float64)

    def _postings(self, kind: Kind) -> Postings:
        """The words or phrases of the candidates that the query has too."""
        if kind not in self._known_postings:
            self._known_postings[kind] = self.candidates.find(kind, self.query.terms[kind])
        return self._known_postings[kind]


@dataclass(frozen=True)
class Meaning:
    """Candidates, and the best partners of the query's sentences and of theirs."""

    candidates: Ints
    partners: list[BothPartners]

    @property
    def scores(self) -> Floats:
        """The sentence score of each."""
        return np.array([partners_score(partners) for partners in self.partners])

    def __add__(self, other: "Meaning") -> "Meaning":
        return Meaning(np.concatenate([self.candidates, other.candidates]), self.partners + other.partners)


@dataclass(frozen=True)
class Scored:
    """Candidates with their similarities on each side, their scores and probabilities."""

    ids: list[str]
    similarities: Mapping[str, Floats]
    scores: Floats
    probabilities: Floats
    partners: Mapping[str, BothPartners] = field(default_factory=dict)  # of sentences, where known, by id

    def at(self, places: Sequence[int] | Ints) -> "Scored":
        """Some of them."""
        values = {name: values[places] for name, values in self.similarities.items()}
        ids = [self.ids[i] for i in places]
        return Scored(ids, values, self.scores[places], self.probabilities[places], self.partners)

    def first(self, count: int) -> "Scored":
        """The first of them."""
        return self.at(range(min(count, len(self.ids))))


def score_candidates(
    query: Query, ids: Sequence[str], store: Store, statistics: Statistics, most: int | None = None
) -> Scored:
    """The candidates, best first; ties break by id. If only the best `most` are asked for, the others may be missing.

    To compare sentences takes longer than all other sides together, and needs the store, where all others need the
    index alone. So of many candidates only those are scored to the end that are among the best by an estimate of it,
    and whose score would be among the best `most` if their sentences were the same.
    """
    comparison, rarity = StoredComparison(query, query.index.select(ids), store), query.index.rarity
    if not len(comparison.candidates):
        return Scored([], {}, np.zeros(0), np.zeros(0))
    names = rarity.sides(statistics)
    values = similarities(comparison, [name for name in names if name != MEANING])
    ids, lengths, partners = comparison.candidates.ids, comparison.candidate_words, {}

    calibration = rarity.calibration(statistics)

    def score(meaning: Floats, places: Ints) -> Floats:
        known = {MEANING: meaning, **{name: known[places] for name, known in values.items()}}
        return calibration.score({name: known[name] for name in calibration.sides})

    if MEANING in names:
        meaning = _shortlisted(comparison, score, most)
        kept = meaning.candidates
        ids, lengths = [ids[int(i)] for i in kept], lengths[kept]
        values = {name: known[kept] for name, known in values.items()} | {MEANING: meaning.scores}
        partners = dict(zip(ids, meaning.partners, strict=True))
    found = Scored(list(ids), values, *rarity.judge(values, query.words, lengths, statistics), partners)
    return found.at(sorted(range(len(ids)), key=lambda i: (-found.scores[i], found.ids[i])))


def _shortlisted(comparison: StoredComparison, score: Callable[[Floats, Ints], Floats], most: int | None) -> Meaning:
    """The sentences of the candidates that may be among the best `most`; all if it is None.

    `score` gives the scores of some candidates by their sentence scores.
    """
    everyone = np.arange(len(comparison.candidates))
    count = SHORTLIST * max(most or 0, LEAST_SHOWN)
    if most is None or len(everyone) <= count:
        return comparison.meaning_of(everyone)
    guess = score(estimated_meaning(comparison), everyone)
    best = np.argsort(-guess, kind="stable")[:count]
    first, others = comparison.meaning_of(best[:most]), best[most:]
    if len(first.candidates) < most:
        return first + comparison.meaning_of(others)
    needed = score(first.scores, first.candidates).min()
    possible = score(np.full(len(others), HIGHEST), others) >= needed
    return first + comparison.meaning_of(others[possible])


def estimated_meaning(comparison: StoredComparison) -> Floats:
    """The sentence scores as a line over the cosines of the documents' vectors, drawn through those of a few."""
    topic = as_numbers(comparison.candidate_vectors @ comparison.query_vector)
    few = np.argsort(topic, kind="stable")[np.linspace(0, len(topic) - 1, ON_THE_LINE).astype(np.int64)]
    found = comparison.meaning_of(few)
    design = np.stack([topic[found.candidates], np.ones(len(found.candidates))], axis=1)
    slope, start = np.linalg.lstsq(design, found.scores, rcond=None)[0]
    return np.asarray((start + slope * topic).clip(min=0))


def sentence_scores(query: SentenceVectors, documents: Sequence[SentenceVectors]) -> Floats:
    """The corrected sentence score of a query with each document, both directions averaged."""
    if not documents:
        return np.zeros(0)
    offsets = offsets_of(np.array([len(d) for d in documents], dtype=np.int64))
    return as_numbers(collection_scores(query, SentenceVectors.cat(documents), offsets))
