"""TF-IDF over words, TF-IDF over phrases, and BM25 as matchers: baselines, so all words count, those of form too."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from longmatch.documents.document import Document
from longmatch.lexical.key_terms import key_terms
from longmatch.lexical.links import RatedTerms, group_grid, link_pair, sentence_cosines
from longmatch.lexical.terms import Counts, Kind, Stream, terms_of
from longmatch.lexical.weights import Frequencies, TermMatrix, Weighted, bm25, bm25_query, shipped_background, tfidf
from longmatch.matching.align import Evidence, alignments, merge
from longmatch.matching.match import Match
from longmatch.matching.matcher import Encoder, Progress, Scores
from longmatch.matching.sentences import Sentences

Weighting = Literal["tfidf", "bm25"]


@dataclass(frozen=True)
class LexicalEncoding:
    """A document's sentences and their terms."""

    sentences: Sentences
    stream: Stream


@dataclass(frozen=True)
class LexicalCollection:
    """A collection's term weights and the frequencies behind them."""

    frequencies: Frequencies
    matrix: TermMatrix
    mean_length: float


class LexicalMatcher(Encoder[LexicalEncoding, LexicalCollection]):
    """Matching by shared words or phrases, weighed by TF-IDF (cosine) or BM25 (a share of the query's own score)."""

    def __init__(self, name: str, kind: Kind = "words", weighting: Weighting = "tfidf") -> None:
        self.name, self.kind, self.weighting = name, kind, weighting

    def encode(self, documents: Sequence[Document], progress: Progress | None = None) -> list[LexicalEncoding]:
        """Hash the terms of each document."""
        encodings = []
        for document in documents:
            terms = terms_of(document, with_form=True)
            encodings.append(LexicalEncoding(Sentences.of_document(document), terms.of(self.kind)))
            if progress:
                progress(1)
        return encodings

    def collect(self, encodings: Sequence[LexicalEncoding]) -> LexicalCollection:
        """Weigh every document's terms by their rarity in the collection."""
        counts = [e.stream.counts for e in encodings]
        frequencies = Frequencies.of(counts)
        mean_length = float(np.mean([c.counts.sum() for c in counts])) if counts else 1.0
        weighted = [self._weigh(c, frequencies, mean_length) for c in counts]
        return LexicalCollection(frequencies, TermMatrix.of(weighted), mean_length)

    def score(self, query: LexicalEncoding, collection: LexicalCollection) -> Scores:
        """The score of a query with every document of a collection."""
        counts, frequencies = query.stream.counts, collection.frequencies
        weights = tfidf(counts, frequencies) if self.weighting == "tfidf" else bm25_query(counts)
        own = weights.dot(self._weigh(counts, frequencies, collection.mean_length)) or 1.0
        return collection.matrix.scores(weights) / own

    def explain(self, a: LexicalEncoding, b: LexicalEncoding, collection: LexicalCollection | None = None) -> Match:
        """Sections and sentences by the terms they share; without a collection, by their rarity in background text."""
        frequencies = collection.frequencies if collection else shipped_background().frequencies(self.kind)
        words = terms_of(a.sentences.document, with_form=True).words
        shared = link_pair(RatedTerms.of(a.stream, frequencies), b.stream)
        x, y = a.stream.counts, b.stream.counts
        length = float(x.counts.sum() + y.counts.sum()) / 2
        score = (self._share(x, y, frequencies, length) + self._share(y, x, frequencies, length)) / 2
        return Match(
            a=a.sentences.document,
            b=b.sentences.document,
            score=float(np.clip(score, 0.0, 1.0)),
            sections=group_grid(a.sentences, b.sentences, a.stream, b.stream, "sections", frequencies),
            alignments=alignments(
                merge(
                    [Evidence(shared.forward.partner, shared.forward.mass, lexical=True)],
                    [Evidence(shared.backward.partner, shared.backward.mass, lexical=True)],
                ),
                (a.sentences, b.sentences),
                lambda i, j: sentence_cosines(a.stream, b.stream, i, j, frequencies),
            ),
            model=self.name,
            parts={self.kind: 1.0},
            terms=key_terms(shared.kinds, words, a.sentences, shipped_background()),
            grids=lambda level: group_grid(a.sentences, b.sentences, a.stream, b.stream, level, frequencies),
        )

    def _weigh(self, counts: Counts, frequencies: Frequencies, mean_length: float) -> Weighted:
        """The weights of a candidate."""
        return tfidf(counts, frequencies) if self.weighting == "tfidf" else bm25(counts, frequencies, mean_length)

    def _share(self, query: Counts, candidate: Counts, frequencies: Frequencies, mean_length: float) -> float:
        """The score of a query with a candidate, as a share of that with itself."""
        weights = tfidf(query, frequencies) if self.weighting == "tfidf" else bm25_query(query)
        own, other = (weights.dot(self._weigh(counts, frequencies, mean_length)) for counts in (query, candidate))
        return other / (own or 1.0)


def tfidf_matcher() -> LexicalMatcher:
    """TF-IDF cosine over words."""
    return LexicalMatcher("tfidf")


def phrase_matcher() -> LexicalMatcher:
    """TF-IDF cosine over runs of two and three words."""
    return LexicalMatcher("phrases", kind="phrases")


def bm25_matcher() -> LexicalMatcher:
    """BM25 over words."""
    return LexicalMatcher("bm25", weighting="bm25")
