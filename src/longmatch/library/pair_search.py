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

from longmatch.default.calibration import IN_LIKENESS
from longmatch.default.comparison import Comparison, Query
from longmatch.default.rarity import Language, no_verdict
from longmatch.default.sides import similarities
from longmatch.lexical.terms import KINDS, Kind, lookup
from longmatch.lexical.weights import QueryTerms
from longmatch.library.index.index import Index, language_code
from longmatch.library.index.segment import Segment
from longmatch.library.search.candidates import Nearest, Scope, highest
from longmatch.library.search.encode import indexed_query
from longmatch.library.search.score import MEANING, StoredCandidates, sentence_scores
from longmatch.library.search.searcher import Searcher
from longmatch.matching.wording import NoVerdict

SLACK = 0.1  # by which meaning might exceed the cosine of the document vectors; it was below in every pair measured
CLOSEST = 16  # pairs that fell short, kept to name the most probable of them
COMMON = 1_000  # documents: a term of more says little about which of them belong together, and costs most


class Judged(NamedTuple):
    """Two documents judged: the probability that they belong together, and how alike they are."""

    probability: float
    likeness: float


class PairSearch:
    """The pairs that belong together with a minimum probability or may be copies, and those judged so far."""

    def __init__(self, searcher: Searcher, minimum: float) -> None:
        self.searcher, self.minimum, self.settings = searcher, minimum, searcher.store.settings
        self.scope = Scope.of(searcher.index)
        self.rarity = searcher.index.rarity
        self.calibration = self.rarity.calibration
        counted = IN_LIKENESS | set(searcher.statistics.probability.sides)
        self.sides = [name for name in self.rarity.sides if name in counted]
        self.nearest = searcher.nearest(len(searcher.index))
        columns = (searcher.index.live_column(name).tolist() for name in ("languages", "known", "lengths"))
        self.languages = {
            id: Language.by_words(language_code(code), known, words)
            for id, code, known, words in zip(self.scope.ids, *columns, strict=True)
        }
        self.found: dict[tuple[str, str], Judged] = {}
        self.judged: set[tuple[str, str]] = set()
        self.partners: Counter[str] = Counter()
        self.copies: Counter[str] = Counter()
        self.closest: list[tuple[float, tuple[str, str]]] = []  # the highest bounds of those that fell short, negative

    def run_all(self, progress: Callable[[int], None] | None = None) -> None:
        """Search with all documents, a block at a time; `progress` is called with the number of documents done."""
        ids, size = sorted(self.scope.ids), self.settings.pair_block
        for start in range(0, len(ids), size):
            block = ids[start : start + size]
            self.run([indexed_query(id, self.searcher.index) for id in block], self.settings.nearest)
            if progress:
                progress(len(block))

    def run(self, queries: Sequence[Query], count: int) -> None:
        """Judge each document's nearest; where half of them belong with it, there may be more: search further."""
        near = nearest_documents(queries, self.searcher.index, self.scope, count, self.nearest)
        for query, neighbours in zip(queries, near, strict=True):
            fresh = [id for id in sorted(neighbours) if ordered(query.id, id) not in self.judged]
            self.judged.update(ordered(query.id, id) for id in fresh)
            for candidate, judged in zip(fresh, self._judge(query, fresh, self.minimum), strict=True):
                pair = ordered(query.id, candidate)
                # in a library of copies, to be alike is nothing unusual: copies count however probable they are
                nearly_copies = judged.likeness >= self.settings.nearly_copies
                if judged.probability >= self.minimum or nearly_copies:
                    self.found[pair] = judged
                    self.partners.update(pair)
                    self.copies.update(pair if nearly_copies else ())
                if judged.probability < self.minimum:
                    insort(self.closest, (-judged.probability, pair))
                    del self.closest[CLOSEST:]
        partners = self.partners if count < self.settings.most_nearest else self.copies
        crowded = [query for query in queries if partners[query.id] >= count / 2]
        if crowded and count < len(self.scope):
            self.run(crowded, 4 * count)

    def no_verdict(self, a: str, b: str) -> NoVerdict | None:
        """Why the probability of two documents cannot be believed; None where it can."""
        return no_verdict(self.languages[a], self.languages[b], self.rarity)

    def no_verdicts(self) -> set[NoVerdict | None]:
        """Why pairs of the library have none; None among them where some have one."""
        languages = sorted(set(self.languages.values()))
        return {no_verdict(a, b, self.rarity) for a, b in combinations_with_replacement(languages, 2)}

    def judge(self, a: str, b: str) -> Judged:
        """Whether two documents belong together, and how alike they are."""
        return self._judge(indexed_query(a, self.searcher.index), [b], minimum=0.0)[0]

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
        found = StoredCandidates(candidates, self.searcher.index, self.searcher.store)
        comparison = Comparison(query, found)
        values = similarities(comparison, [name for name in self.sides if name != MEANING])
        if MEANING in self.sides:
            topic = similarities(comparison, ["topic"])["topic"]
            values[MEANING] = np.minimum(topic + SLACK, 1.0)
            likely = self.rarity.probability(values, query.words, found.lengths) >= minimum
            copies = self.calibration.likeness(values) >= self.settings.nearly_copies
            promising = np.flatnonzero(likely | copies).tolist()
            if promising:
                wanted = [query.id, *(candidates[i] for i in promising)]
                stored = {document.id: document.unpacked() for document in found.stored_sentences(wanted)}
                present = [i for i in promising if candidates[i] in stored]  # another process may have removed some
                if query.id in stored:
                    others = [stored[candidates[i]] for i in present]
                    values[MEANING][present] = sentence_scores(stored[query.id], others)
        probability = self.rarity.probability(values, query.words, found.lengths)
        likeness = self.calibration.likeness(values)
        return [Judged(*pair) for pair in zip(probability.tolist(), likeness.tolist(), strict=True)]


def nearest_documents(
    queries: Sequence[Query], index: Index, scope: Scope, count: int, nearest: Nearest | None = None
) -> list[set[str]]:
    """The `count` nearest documents of each query by words, by phrases and by vector; never the query itself.

    Each is one product per block of queries. Only the rarer terms are looked up, so the work grows with the collection,
    not with its square. Document vectors are multiplied with all others, or looked up in the approximate index.
    """
    import scipy.sparse as sp

    ids: list[set[str]] = [set() for _ in queries]
    roster = index.roster
    for kind in KINDS:
        terms = [query.terms[kind] for query in queries]
        parts = [_cosines(kind, terms, segment) for segment in index.segments if len(segment)]
        if not parts:
            continue
        cosines = sp.hstack(parts, format="csr")
        for near, (start, end) in zip(ids, pairwise(cosines.indptr.tolist()), strict=True):
            live = roster.live[cosines.indices[start:end]]
            rows, values = cosines.indices[start:end][live], cosines.data[start:end][live]
            best = rows[highest(values, count + 1, roster.ids[rows].__getitem__)]
            near.update(str(id) for id in roster.ids[best])
    vectors = np.stack([query.vector for query in queries])
    if nearest is not None:
        by_vector = [[id for id in nearest(vector, count + 1) if scope.covers(id, index)] for vector in vectors]
    else:
        products = np.concatenate([s["means"] @ vectors.T for s in index.segments if len(s)])[scope.rows]
        by_vector = [scope.names(highest(column, count + 1, scope.name)) for column in products.T]
    for near, best_ids, query in zip(ids, by_vector, queries, strict=True):
        near.update(best_ids)
        near.discard(query.id)
    return ids


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


def ordered(a: str, b: str) -> tuple[str, str]:
    """A pair of ids in alphabetical order."""
    return (a, b) if a < b else (b, a)
