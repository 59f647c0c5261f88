"""The pairs of a library that probably belong together, without comparing everything with everything.

A pair is judged when one document is among the other's nearest by words, by phrases or by vector. Meaning, which takes
the vectors of all sentences, is computed only where the other sides and the document vectors leave room for it. A
document with many partners is searched further: for related ones up to a limit, for copies until all are found. So the
work grows with the collection and with its copies, not with the square of either.
"""

from bisect import insort
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import combinations_with_replacement, pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from longmatch.default.calibration import IN_LIKENESS
from longmatch.default.no_verdict import Language, no_verdict
from longmatch.default.sides import Floats, similarities
from longmatch.lexical.terms import KINDS, Ints, Kind, lookup
from longmatch.library.index.documents import language_code
from longmatch.library.index.index import Index, Roster
from longmatch.library.index.segment import Segment
from longmatch.library.index.terms import QueryTerms
from longmatch.library.search.candidates import Nearest, Scope, highest
from longmatch.library.search.encode import Query
from longmatch.library.search.score import MEANING, StoredComparison, sentence_scores
from longmatch.library.search.searcher import Searcher
from longmatch.matching.match import NoVerdict

NEAREST = 12  # by words, by phrases and by vector, for each document
MOST_NEAREST = 48  # the same for a document that belongs with most of its nearest, none of them a copy
NEARLY_COPIES = 0.8  # likeness from which on two documents may be copies, and all of them are found
SLACK = 0.1  # by which meaning might exceed the cosine of the document vectors; it was below in every pair measured
BLOCK = 64  # documents searched with together
CLOSEST = 16  # pairs that fell short, kept to name the most probable of them
COMMON = 1_000  # documents: a term of more says little about which of them belong together, and costs most


class Judged(NamedTuple):
    """Two documents judged: the probability that they belong together, and how alike they are."""

    probability: float
    likeness: float

    @property
    def nearly_copies(self) -> bool:
        """Whether they may be, however probable they are: in a library of copies, to be alike is nothing unusual."""
        return self.likeness >= NEARLY_COPIES


class PairSearch:
    """The pairs that belong together with a minimum probability or may be copies, and those judged so far."""

    def __init__(self, searcher: Searcher, minimum: float) -> None:
        self.searcher, self.minimum = searcher, minimum
        self.scope = Scope.of(searcher.index)
        self.rarity = searcher.index.rarity
        self.calibration = self.rarity.calibration(searcher.statistics)
        counted = IN_LIKENESS | set(searcher.statistics.probability.sides)
        self.sides = [name for name in self.rarity.sides(searcher.statistics) if name in counted]
        self.nearest = searcher.nearest(len(searcher.index))
        self.languages = languages_of(searcher.index, self.scope)
        self.found: dict[tuple[str, str], Judged] = {}
        self.judged: set[tuple[str, str]] = set()
        self.partners: Counter[str] = Counter()
        self.copies: Counter[str] = Counter()
        self.closest: list[tuple[float, tuple[str, str]]] = []  # the highest bounds of those that fell short, negative

    def run_all(self, progress: Callable[[int], None] | None = None) -> None:
        """Search with all documents, a block at a time; `progress` is called with the number of documents done."""
        ids = sorted(self.scope.ids)
        for start in range(0, len(ids), BLOCK):
            block = ids[start : start + BLOCK]
            self.run([Query.of_indexed(id, self.searcher.index) for id in block])
            if progress:
                progress(len(block))

    def run(self, queries: Sequence[Query], count: int = NEAREST) -> None:
        """Judge each document's nearest; where half of them belong with it, there may be more: search further."""
        near = nearest_documents(queries, self.searcher.index, self.scope, count, self.nearest)
        for query, neighbours in zip(queries, near, strict=True):
            fresh = [id for id in sorted(neighbours) if ordered(query.id, id) not in self.judged]
            self.judged.update(ordered(query.id, id) for id in fresh)
            self._judge_all(query, fresh)
        partners = self.partners if count < MOST_NEAREST else self.copies
        crowded = [query for query in queries if partners[query.id] >= count / 2]
        if crowded and count < len(self.scope):
            self.run(crowded, 4 * count)

    def _judge_all(self, query: Query, candidates: Sequence[str]) -> None:
        for candidate, judged in zip(candidates, self._judge(query, candidates, self.minimum), strict=True):
            pair = ordered(query.id, candidate)
            if judged.probability >= self.minimum or judged.nearly_copies:
                self.found[pair] = judged
                self.partners.update(pair)
                self.copies.update(pair if judged.nearly_copies else ())
            if judged.probability < self.minimum:
                insort(self.closest, (-judged.probability, pair))
                del self.closest[CLOSEST:]

    def no_verdict(self, a: str, b: str) -> NoVerdict | None:
        """Why the probability of two documents cannot be believed; None where it can."""
        return no_verdict(self.languages[a], self.languages[b], self.rarity)

    def no_verdicts(self) -> set[NoVerdict | None]:
        """Why pairs of the library have none; None among them where some have one."""
        languages = sorted(set(self.languages.values()))
        return {no_verdict(a, b, self.rarity) for a, b in combinations_with_replacement(languages, 2)}

    def judge(self, a: str, b: str) -> Judged:
        """Whether two documents belong together, and how alike they are."""
        return self._judge(Query.of_indexed(a, self.searcher.index), [b], minimum=0.0)[0]

    def closest_pair(self) -> tuple[tuple[str, str], Judged] | None:
        """The most probable of the pairs that fell short; None where none was judged."""
        best: tuple[Judged, tuple[str, str]] | None = None
        for bound, pair in self.closest:
            if best is None or -bound > best[0].probability:
                exact = self.judge(*pair)
                best = (exact, pair) if best is None or exact > best[0] else best
        return None if best is None else (best[1], best[0])

    def _judge(self, query: Query, candidates: Sequence[str], minimum: float) -> list[Judged]:
        """A document and its candidates; of those that cannot reach the minimum, an upper bound."""
        if not candidates:
            return []
        comparison = StoredComparison(query, query.index.select(candidates), self.searcher.store)
        values = similarities(comparison, [name for name in self.sides if name != MEANING])
        if MEANING in self.sides:
            topic = similarities(comparison, ["topic"])["topic"]
            values[MEANING] = np.minimum(topic + SLACK, 1.0)
            bounds = self._probability(comparison, values), self.calibration.likeness(values)
            promising = np.flatnonzero((bounds[0] >= minimum) | (bounds[1] >= NEARLY_COPIES)).tolist()
            if promising:
                wanted = [query.id, *(candidates[i] for i in promising)]
                stored = {document.id: document.unpacked() for document in comparison.stored_sentences(wanted)}
                present = [i for i in promising if candidates[i] in stored]  # another process may have removed some
                others = [stored[candidates[i]] for i in present]
                if query.id in stored:
                    values[MEANING][present] = sentence_scores(stored[query.id], others)
        probability, likeness = self._probability(comparison, values), self.calibration.likeness(values)
        return [Judged(*pair) for pair in zip(probability.tolist(), likeness.tolist(), strict=True)]

    def _probability(self, comparison: StoredComparison, values: dict[str, Floats]) -> Floats:
        words = comparison.query_words, comparison.candidate_words
        return self.rarity.probability(values, *words, self.searcher.statistics)


def languages_of(index: Index, scope: Scope) -> dict[str, Language]:
    """The language of each document of a library."""
    columns = (index.live_column(name).tolist() for name in ("languages", "known", "lengths"))
    return {
        id: Language.by_words(language_code(code), known, words)
        for id, code, known, words in zip(scope.ids, *columns, strict=True)
    }


def nearest_documents(
    queries: Sequence[Query], index: Index, scope: Scope, count: int, nearest: Nearest | None = None
) -> list[set[str]]:
    """The `count` nearest documents of each query by words, by phrases and by vector; never the query itself.

    Each is one product per block of queries. Only the rarer terms are looked up, so the work grows with the collection,
    not with its square. Document vectors are multiplied with all others, or looked up in the approximate index.
    """
    ids: list[set[str]] = [set() for _ in queries]
    roster = index.roster
    for kind in KINDS:
        terms = [query.terms[kind] for query in queries]
        for near, best in zip(ids, nearest_by_terms(kind, terms, index, count + 1), strict=True):
            near.update(str(roster.ids[i]) for i in best)
    vectors = np.stack([query.vector for query in queries])
    for near, best_ids in zip(ids, _nearest_by_vector(vectors, index, scope, count + 1, nearest), strict=True):
        near.update(best_ids)
    for near, query in zip(ids, queries, strict=True):
        near.discard(query.id)
    return ids


def nearest_by_terms(kind: Kind, queries: Sequence[QueryTerms], index: Index, count: int) -> list[Ints]:
    """The rows of the index with the largest cosine; fewer where fewer share a term."""
    parts = [_cosines(kind, queries, segment) for segment in index.segments if len(segment)]
    if not parts:
        return [np.empty(0, dtype=np.int64) for _ in queries]
    import scipy.sparse as sp

    cosines = sp.hstack(parts, format="csr")
    return [
        _largest(cosines.indices[start:end], cosines.data[start:end], count, index.roster)
        for start, end in pairwise(cosines.indptr.tolist())
    ]


def _cosines(kind: Kind, queries: Sequence[QueryTerms], segment: Segment) -> Any:
    """(queries, documents of the segment), from the rarer of the documents' heaviest terms."""
    import scipy.sparse as sp

    kept, starts = segment[f"{kind}.kept"], segment[f"{kind}.starts"]
    bounds, columns, values = [0], [], []
    for terms in queries:
        position, present = lookup(kept, terms.ids)
        position = position[present]
        rare = starts[position + 1] - starts[position] <= COMMON
        columns.append(position[rare])
        values.append((terms.idf * terms.weights)[present][rare].astype(np.float32))
        bounds.append(bounds[-1] + int(rare.sum()))
    places, column = np.unique(np.concatenate(columns), return_inverse=True)
    weights = sp.csr_array((np.concatenate(values), column, np.array(bounds)), shape=(len(queries), len(places)))
    cosines = sp.csr_array(weights @ segment.postings(kind, places))
    norms = segment[f"{kind}.norms"][cosines.indices]
    cosines.data = cosines.data / np.where(norms > 0, norms, 1.0)
    return cosines


def _largest(rows: Ints, values: npt.NDArray[np.float32], count: int, roster: Roster) -> Ints:
    live = roster.live[rows]
    rows, values = rows[live], values[live]
    return rows[highest(values, count, lambda place: str(roster.ids[rows[place]]))]


def _nearest_by_vector(
    vectors: npt.NDArray[np.float32], index: Index, scope: Scope, count: int, nearest: Nearest | None
) -> list[list[str]]:
    if nearest is not None:
        return [[id for id in nearest(vector, count) if scope.covers(id, index)] for vector in vectors]
    cosines = np.concatenate([s["means"] @ vectors.T for s in index.segments if len(s)])[scope.rows]
    return [scope.names(highest(column, count, scope.name)) for column in cosines.T]


def ordered(a: str, b: str) -> tuple[str, str]:
    """A pair of ids in alphabetical order."""
    return (a, b) if a < b else (b, a)
