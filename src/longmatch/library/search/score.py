"""Step 3: scores. The default score of a query with candidates, by the terms of the whole library."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from longmatch.default.calibration import Calibration
from longmatch.default.comparison import Candidates, Comparison, Query, TermColumn
from longmatch.default.rarity import Rarity
from longmatch.default.sides import similarities
from longmatch.lexical.terms import Hashes, Ints, lookup
from longmatch.lexical.weights import Postings
from longmatch.library.index.index import Index, language_code
from longmatch.library.index.segment import TITLE_WORDS, Occurrences, Segment
from longmatch.library.row_cache import StoredSentences
from longmatch.library.store import Store
from longmatch.matching.levels import (
    BothPartners,
    SentenceVectors,
    collection_partners,
    collection_scores,
    partners_score,
)
from longmatch.ragged import Array, Floats, as_numbers, offsets_of

MEANING = "meaning"
LEAST_SHOWN = 10  # hits
HIGHEST = 1.01  # sentence score of any two documents, though vectors are rounded
ON_THE_LINE = 5  # candidates by which the others' sentence scores are estimated


class StoredCandidates(Candidates):
    """Documents of an index; their sentences lie in its records or in the store."""

    def __init__(self, ids: Sequence[str], index: Index, store: Store) -> None:
        self.selected, self.index, self.store = index.select(ids), index, store
        self.ids = self.selected.ids  # of those that the index has
        if self.ids:
            self.lengths = np.asarray(self.selected.column("lengths"))
            codes = self.selected.column("languages").tolist()
            self.languages = np.array([language_code(number) for number in codes])
            self.titles = np.asarray(self.selected.column("titles"))

    @cached_property
    def vectors(self) -> Array:
        """(candidates, width)"""
        return self.selected.column("means")

    @cached_property
    def title_vectors(self) -> Array:
        """(candidates, width)"""
        return self.selected.column("title_vectors").astype(np.float32)

    def find(self, column: TermColumn, terms: Hashes) -> Postings:
        """Among all terms of the documents, not only those that the index finds them by."""
        if column != TITLE_WORDS:
            return self.selected.find(column, terms)
        position, present = lookup(terms, self._title_words.term)
        words = self._title_words
        return Postings(words.document[present], position[present], words.count[present])

    def norms(self, column: TermColumn) -> Floats:
        """The lengths of the documents' TF-IDF vectors."""
        if column == TITLE_WORDS:
            return self._title_words.norms(self.index.rarity.words.idf(self._title_words.term))
        return self.selected.column(f"{column}.norms").astype(np.float64)

    @cached_property
    def _title_words(self) -> Occurrences:
        return self.selected.occurrences(TITLE_WORDS)

    def sentence_scores(self, query: SentenceVectors) -> Floats:
        """One product with the sentences of all candidates, all of which must be in the store."""
        return self.meaning(query, np.arange(len(self.ids))).scores

    def meaning(self, query: SentenceVectors, places: Ints) -> "Meaning":
        """The sentences of some candidates, without those that another process has removed from the store."""
        stored = {document.id: document for document in self.stored_sentences([self.ids[i] for i in places])}
        if not stored:
            return Meaning(places[:0], [])
        sentences = StoredSentences.unpack([*stored.values()])
        offsets = offsets_of(np.array([len(document) for document in stored.values()], dtype=np.int64))
        present = np.array([self.ids[i] in stored for i in places], dtype=bool)
        return Meaning(places[present], collection_partners(query, sentences, offsets))

    def stored_sentences(self, ids: Sequence[str]) -> list[StoredSentences]:
        """From the index, or from the store what has no record there; all from the store if it has changed since."""
        if self.index.version != self.store.version:
            return self.store.sentences(ids)
        records = self.index.select(ids).each(Segment.record)
        missing = [id for id, record in zip(ids, records, strict=True) if record is None]
        fetched = {document.id: document for document in self.store.sentences(missing)} if missing else {}
        found = (
            record.sentences(self.store.meaning) if record else fetched.get(id)
            for id, record in zip(ids, records, strict=True)
        )
        return [sentences for sentences in found if sentences is not None]


@dataclass(frozen=True)
class Meaning:
    """Candidates, and the best partners of the query's sentences and of theirs."""

    candidates: Ints
    partners: list[BothPartners]

    @property
    def scores(self) -> Floats:
        """The sentence score of each."""
        return np.array([partners_score(partners) for partners in self.partners])


@dataclass(frozen=True)
class Scored:
    """Candidates with their similarities on each side, their scores and probabilities."""

    ids: list[str]
    similarities: Mapping[str, Floats]
    scores: Floats
    probabilities: Floats
    partners: Mapping[str, BothPartners]  # of sentences, where known, by id

    def at(self, places: Sequence[int] | Ints) -> "Scored":
        """Some of them."""
        values = {name: values[places] for name, values in self.similarities.items()}
        ids = [self.ids[i] for i in places]
        return Scored(ids, values, self.scores[places], self.probabilities[places], self.partners)


def score_candidates(
    query: Query, candidates: StoredCandidates, rarity: Rarity, most: int | None = None, shortlist: int = 3
) -> Scored:
    """The candidates, best first; ties break by id. If only the best `most` are asked for, the others may be missing.

    To compare sentences takes longer than all other sides together, and needs the store, where all others need the
    index alone. So of many candidates only those are scored to the end that are among the best by an estimate of it,
    `shortlist` for each one asked for, and whose score would be among the best `most` if their sentences were the same.
    """
    if not candidates.ids:
        return Scored([], {}, np.zeros(0), np.zeros(0), {})
    comparison = Comparison(query, candidates)
    ids, lengths, partners = list(candidates.ids), candidates.lengths, {}
    values = similarities(comparison, [name for name in rarity.sides if name != MEANING])
    if MEANING in rarity.sides:
        count = len(ids) if most is None else shortlist * max(most, LEAST_SHOWN)
        if most is None or len(ids) <= count:
            meaning = candidates.meaning(query.encoding.sentence_vectors, np.arange(len(ids)))
        else:
            meaning = _shortlisted(comparison, candidates, values, rarity.calibration, most, count)
        ids, lengths = [ids[i] for i in meaning.candidates], lengths[meaning.candidates]
        values = {name: known[meaning.candidates] for name, known in values.items()} | {MEANING: meaning.scores}
        partners = dict(zip(ids, meaning.partners, strict=True))
    found = Scored(ids, values, *rarity.judge(values, query.words, lengths), partners)
    return found.at(sorted(range(len(ids)), key=lambda i: (-found.scores[i], found.ids[i])))


def _shortlisted(
    comparison: Comparison,
    candidates: StoredCandidates,
    values: Mapping[str, Floats],
    calibration: Calibration,
    most: int,
    count: int,
) -> Meaning:
    """The sentences of the `count` candidates that may be among the best `most` by their other sides."""
    query = comparison.query.encoding.sentence_vectors

    def score(meaning: Floats, places: Ints) -> Floats:
        known = {MEANING: meaning, **{name: known[places] for name, known in values.items()}}
        return calibration.score({name: known[name] for name in calibration.sides})

    # sentence scores are estimated by a line over the cosines of the documents' vectors, drawn through those of a few
    topic = comparison.topic_cosines()
    few = np.argsort(topic, kind="stable")[np.linspace(0, len(topic) - 1, ON_THE_LINE).astype(np.int64)]
    found = candidates.meaning(query, few)
    design = np.stack([topic[found.candidates], np.ones(len(found.candidates))], axis=1)
    slope, start = np.linalg.lstsq(design, found.scores, rcond=None)[0]
    estimated = (start + slope * topic).clip(min=0)

    best = np.argsort(-score(estimated, np.arange(len(topic))), kind="stable")[:count]
    first, others = candidates.meaning(query, best[:most]), best[most:]
    if len(first.candidates) >= most:
        needed = score(first.scores, first.candidates).min()
        others = others[score(np.full(len(others), HIGHEST), others) >= needed]
    rest = candidates.meaning(query, others)
    return Meaning(np.concatenate([first.candidates, rest.candidates]), first.partners + rest.partners)


def sentence_scores(query: SentenceVectors, documents: Sequence[SentenceVectors]) -> Floats:
    """The corrected sentence score of a query with each document, both directions averaged."""
    if not documents:
        return np.zeros(0)
    offsets = offsets_of(np.array([len(d) for d in documents], dtype=np.int64))
    return as_numbers(collection_scores(query, SentenceVectors.cat(documents), offsets))
