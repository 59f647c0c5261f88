"""The most similar pairs of a library, without comparing everything with everything.

A pair is scored when one document is among the other's nearest by words, by phrases or by vector. Meaning, which takes
the vectors of all sentences, is computed only where words and document vectors leave room for it. A document with many
partners is searched further, so that the work grows with the collection and with what is found.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from heapq import heappop, heappush
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from longmatch.default.calibration import IN_LIKENESS
from longmatch.default.sides import Floats, similarities
from longmatch.lexical.terms import KINDS, Ints, Kind, lookup
from longmatch.library.index.index import Index
from longmatch.library.index.segment import Segment
from longmatch.library.index.terms import QueryTerms
from longmatch.library.search.candidates import Nearest, Scope
from longmatch.library.search.encode import Query
from longmatch.library.search.score import StoredComparison, sentence_scores
from longmatch.library.search.searcher import Searcher

NEAREST = 12  # by words, by phrases and by vector, for each document
SLACK = 0.1  # by which meaning might exceed the cosine of the document vectors; it was below in every pair measured
BLOCK = 64  # documents searched with together
CLOSEST = 16  # pairs that fell short, kept to name the most similar of them
COMMON = 1_000  # documents: a term of more says little about which of them belong together, and costs most


class PairSearch:
    """The pairs from a minimum on, and those scored so far."""

    def __init__(self, searcher: Searcher, minimum: float) -> None:
        self.searcher, self.minimum = searcher, minimum
        self.scope = Scope.of(searcher.index)
        self.calibration = searcher.index.rarity.calibration(searcher.statistics)
        self.nearest = searcher.nearest(len(searcher.index))
        self.scores: dict[tuple[str, str], float] = {}  # of the pairs found
        self.scored: set[tuple[str, str]] = set()
        self.partners: Counter[str] = Counter()
        self.closest: list[tuple[float, tuple[str, str]]] = []  # a heap: the highest bounds of those that fell short

    def run_all(self, progress: Callable[[int], None] | None = None) -> None:
        """Search with all documents, a block at a time; `progress` is called with the number of documents done."""
        ids = self.scope.ids
        for start in range(0, len(ids), BLOCK):
            block = ids[start : start + BLOCK]
            self.run([Query.of_indexed(id, self.searcher.index) for id in block])
            if progress:
                progress(len(block))

    def run(self, queries: Sequence[Query], count: int = NEAREST) -> None:
        """Score each document's nearest; where half of them belong with it, there may be more: search further."""
        near = nearest_documents(queries, self.searcher.index, self.scope, count, self.nearest)
        for query, neighbours in zip(queries, near, strict=True):
            fresh = [id for id in sorted(neighbours) if ordered(query.id, id) not in self.scored]
            self.scored.update(ordered(query.id, id) for id in fresh)
            self._score(query, fresh)
        crowded = [query for query in queries if self.partners[query.id] >= count / 2]
        if crowded and count < len(self.scope):
            self.run(crowded, 4 * count)

    def _score(self, query: Query, candidates: Sequence[str]) -> None:
        if not candidates:
            return
        for candidate, value in zip(candidates, self._likeness(query, candidates, self.minimum).tolist(), strict=True):
            pair = ordered(query.id, candidate)
            if value >= self.minimum:
                self.scores[pair] = value
                self.partners.update(pair)
            else:
                heappush(self.closest, (value, pair))
                if len(self.closest) > CLOSEST:
                    heappop(self.closest)

    def likeness(self, a: str, b: str) -> float:
        """How alike two documents are."""
        return float(self._likeness(Query.of_indexed(a, self.searcher.index), [b], minimum=0.0)[0])

    def closest_pair(self) -> tuple[tuple[str, str], float] | None:
        """The most similar of the pairs that fell short, and how alike they are; None where none was scored."""
        best: tuple[float, tuple[str, str]] | None = None
        for bound, pair in sorted(self.closest, key=lambda entry: (-entry[0], entry[1])):
            if best is None or bound > best[0]:
                exact = self.likeness(*pair)
                best = (exact, pair) if best is None or exact > best[0] else best
        return None if best is None else (best[1], best[0])

    def _likeness(self, query: Query, candidates: Sequence[str], minimum: float) -> Floats:
        """How alike a document and its candidates are; of those that cannot reach the minimum, an upper bound."""
        store, calibration = self.searcher.store, self.calibration
        sides = [name for name in calibration.sides if name in IN_LIKENESS]
        cheap = [name for name in sides if name != "meaning"]
        selected = query.index.select(candidates)
        values = similarities(StoredComparison(query, selected, store), [*cheap, "topic"])
        topic = values.pop("topic")
        if "meaning" not in sides:
            return calibration.likeness(values)
        values["meaning"] = np.minimum(topic + SLACK, 1.0)
        promising = np.flatnonzero(calibration.likeness(values) >= minimum).tolist()
        if promising:
            stored = store.sentences([query.id, *(candidates[i] for i in promising)])
            first, *others = (document.unpacked() for document in stored)
            values["meaning"][promising] = sentence_scores(first, others)
        return calibration.likeness(values)


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
            near.update(str(roster.ids[i]) for i in best if roster.live[i])
    vectors = np.stack([query.vector for query in queries])
    for near, best_ids in zip(ids, _nearest_by_vector(vectors, index, scope, count + 1, nearest), strict=True):
        near.update(best_ids)
    for near, query in zip(ids, queries, strict=True):
        near.discard(query.id)
    return ids


def nearest_by_terms(kind: Kind, queries: Sequence[QueryTerms], index: Index, count: int) -> list[Ints]:
    """The rows of the index with the largest cosine, removed documents too; fewer where fewer share a term."""
    parts = [_cosines(kind, queries, segment) for segment in index.segments if len(segment)]
    if not parts:
        return [np.empty(0, dtype=np.int64) for _ in queries]
    import scipy.sparse as sp

    cosines = sp.hstack(parts, format="csr")
    return [
        _largest(cosines.indices[start:end], cosines.data[start:end], count)
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
    weights = sp.csr_array(
        (np.concatenate(values), np.concatenate(columns), np.array(bounds)), shape=(len(queries), len(kept))
    )
    cosines = sp.csr_array(weights @ segment.postings(kind))
    norms = segment[f"{kind}.norms"][cosines.indices]
    cosines.data = cosines.data / np.where(norms > 0, norms, 1.0)
    return cosines


def _largest(rows: Ints, values: npt.NDArray[np.float32], count: int) -> Ints:
    return rows if len(rows) <= count else rows[np.argpartition(-values, count)[:count]]


def _nearest_by_vector(
    vectors: npt.NDArray[np.float32], index: Index, scope: Scope, count: int, nearest: Nearest | None
) -> list[list[str]]:
    if nearest is not None:
        return [[id for id in nearest(vector, count) if scope.covers(id, index)] for vector in vectors]
    cosines = np.concatenate([s["means"] @ vectors.T for s in index.segments if len(s)])[scope.rows]
    if len(cosines) > count:
        best = np.argpartition(-cosines, count, axis=0)[:count]
    else:
        best = np.tile(np.arange(len(cosines))[:, None], len(vectors))
    return [scope.names(column) for column in best.T]


def ordered(a: str, b: str) -> tuple[str, str]:
    """A pair of ids in alphabetical order."""
    return (a, b) if a < b else (b, a)
