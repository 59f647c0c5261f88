"""What every system offers: compare two documents, rank many for one."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from longmatch.documents.document import Document
from longmatch.documents.formats import container_named
from longmatch.errors import LongmatchError
from longmatch.matching.hits import Hit, Hits, Reasons
from longmatch.matching.match import Match

Scores = npt.NDArray[np.float64]
Progress = Callable[[int], None]  # called with the number of documents done since the last call

E = TypeVar("E")  # one document's encoding
C = TypeVar("C")  # a collection of encodings, ready to be scored
Pairs = Sequence[tuple[Document, Document]]
SHOWN = 3  # passages of each hit
DEPTH = 40  # documents reranked by default, as SST's authors do


class Matcher(ABC):
    """Anything that scores a pair of documents."""

    name: str
    declared_as: str = ""  # the name of the declared model that it was opened as
    counts_with_first: ClassVar[bool] = True  # reranking, its ranks and the first model's are averaged by default

    @abstractmethod
    def compare(self, a: Document, b: Document) -> Match:
        """Compare two documents at all levels."""

    def within(self, document: Document) -> Match:
        """A document's own sections against each other."""
        raise LongmatchError(f"The model {self.name} compares two documents only. Name a second document.")

    @abstractmethod
    def rank(
        self, query: Document, documents: Sequence[Document], k: int = 10, progress: Progress | None = None
    ) -> Hits:
        """The k documents that belong most with the query, best first; the query itself is left out."""

    def report(self) -> str:
        """What its work took, in one line; empty where nobody has to know."""
        return ""


class Encoder(Matcher, Generic[E, C]):
    """A matcher that encodes each document once, alone, and compares encodings."""

    @abstractmethod
    def encode(self, documents: Sequence[Document], progress: Progress | None = None) -> list[E]:
        """Encode documents, each alone."""

    @abstractmethod
    def collect(self, encodings: Sequence[E]) -> C:
        """Lay encodings out so that one query is scored against all of them at once."""

    @abstractmethod
    def score(self, query: E, collection: C) -> Scores:
        """The score of a query with every document of a collection."""

    @abstractmethod
    def explain(self, a: E, b: E, collection: C | None = None) -> Match:
        """Compare two encodings at all levels; within a collection, with what it knows of rare and common words."""

    def compare(self, a: Document, b: Document) -> Match:
        """Compare two documents at all levels."""
        first, second = self.encode([a, b])
        return self.explain(first, second)

    def rank(
        self, query: Document, documents: Sequence[Document], k: int = 10, progress: Progress | None = None
    ) -> Hits:
        """The k documents that belong most with the query, best first; ties break by id."""
        others = [d for d in documents if not is_same(d, query)]
        if not others:
            return Hits()
        first, *rest = self.encode([query, *others], progress)
        collection = self.collect(rest)
        scores = self.score(first, collection)
        best = sorted(range(len(others)), key=lambda i: (-scores[i], others[i].id))[:k]
        reasons = self.explain_hits(first, [rest[i] for i in best], collection)
        found = []
        for i, (why, probability, why_not) in zip(best, reasons, strict=True):
            found.append(Hit(others[i], float(scores[i]), percentile(scores, i), why, probability, why_not=why_not))
        return Hits.of(query, found)

    def explain_hits(self, query: E, found: Sequence[E], collection: C) -> Sequence[Reasons]:
        """Why some documents of a collection were found for a query."""
        matches = (self.explain(query, other, collection) for other in found)
        return [Reasons(m.best(SHOWN), m.probability if m.measured else None, m.why_not) for m in matches]


def is_same(a: Document, b: Document) -> bool:
    """Whether two documents are one: the same text from the same file (a copy elsewhere is another document)."""
    if a.text != b.text:
        return False
    if not a.source or not b.source:
        return a.id == b.id
    same_file = Path(a.source).resolve() == Path(b.source).resolve()
    container = container_named(a.source)
    return same_file and (a.id == b.id or container is None or container.is_document)


def percentile(scores: Scores, index: int) -> float:
    """The share of the scores below one of them, in percent.

    >>> percentile(np.array([0.1, 0.2, 0.3, 0.4]), 3)
    75.0
    """
    return 100.0 * float((scores < scores[index]).mean())


class PairMatcher(Matcher):
    """A matcher that has to see both documents of a pair: the second stage behind one that can be indexed."""

    @property
    def networks(self) -> Sequence[Any]:
        """The torch modules it computes with; their weights and settings tell one trained model from another."""
        return ()

    @abstractmethod
    def score_pairs(self, pairs: Pairs, progress: Progress | None = None, for_ranking: bool = False) -> Scores:
        """The score of each pair, many at a time; `progress` is called with the number of pairs done.

        Some score documents otherwise to put them in order (`for_ranking`) than to tell whether they belong together.
        """

    def rank(
        self, query: Document, documents: Sequence[Document], k: int = 10, progress: Progress | None = None
    ) -> Hits:
        """The k documents that belong most with the query, best first; ties break by id."""
        others = [d for d in documents if not is_same(d, query)]
        scores = self.score_pairs([(query, other) for other in others], progress, for_ranking=True)
        best = sorted(range(len(others)), key=lambda i: (-scores[i], others[i].id))[:k]
        whys = [self.compare(query, others[i]).best(SHOWN) for i in best]
        places = zip(best, whys, strict=True)
        return Hits.of(query, (Hit(others[i], float(scores[i]), percentile(scores, i), why) for i, why in places))


class Ranked(NamedTuple):
    """A document's place among those given, its score, and the share of the collection that scores lower."""

    place: int
    score: float
    percentile: float


def rerank(
    matcher: Matcher,
    query: Document,
    found: Sequence[Document],
    k: int,
    total: int,
    progress: Progress | None = None,
    *,
    first: Scores | None = None,
) -> list[Ranked]:
    """The k best of the documents found, best first; ties break by id.

    Of a collection of `total` documents those that were not found count as lower. With `first`, the scores by which
    they were found, the order that they are in counts as much as the model's, and their scores stay these.
    """
    own = scores_with(matcher, query, found, progress)
    places = np.arange(len(found), dtype=np.float64)
    scores, better = (own, own) if first is None else (first, average_ranks(own, -places))
    order = sorted(range(len(found)), key=lambda i: (-better[i], found[i].id))[:k]
    lower = total - len(found)
    return [Ranked(i, float(scores[i]), 100.0 * (lower + int((scores < scores[i]).sum())) / total) for i in order]


def average_ranks(one: Scores, other: Scores) -> Scores:
    """The mean of the ranks by two scores, the lowest score 0; equal scores share the mean of their ranks.

    >>> average_ranks(np.array([0.1, 0.9, 0.5]), np.array([30.0, 20.0, 20.0])).tolist()
    [1.0, 1.25, 0.75]
    """

    def ranks(scores: Scores) -> Scores:
        _, place, counts = np.unique(scores, return_inverse=True, return_counts=True)
        ranked: Scores = (counts.cumsum() - (counts + 1) / 2)[place]
        return ranked

    return (ranks(one) + ranks(other)) / 2


def scores_with(
    matcher: Matcher, query: Document, documents: Sequence[Document], progress: Progress | None = None
) -> Scores:
    """The score of a query with each of some documents, by whatever a matcher can do."""
    if isinstance(matcher, PairMatcher):
        return matcher.score_pairs([(query, document) for document in documents], progress, for_ranking=True)
    if isinstance(matcher, Encoder) and documents:
        encoder: Encoder[Any, Any] = matcher
        first, *rest = encoder.encode([query, *documents], progress)
        return encoder.score(first, encoder.collect(rest))
    return np.array([matcher.compare(query, document).score for document in documents], dtype=np.float64)
