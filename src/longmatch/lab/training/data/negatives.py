"""Sampling of non-matches where the labels contain none."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Literal

import numpy as np

from longmatch.lab.datasets.records import SPLITS, Split, read_table
from longmatch.lab.datasets.splits import DEFAULT
from longmatch.lab.store.tokens import TokenCollection
from longmatch.lab.training.data.labels import NumberedPairs, PairTable, pair_keys
from longmatch.lab.training.data.sources import Source
from longmatch.lexical.terms import Counts, lookup
from longmatch.lexical.weights import Frequencies, TermMatrix, bm25, bm25_query
from longmatch.units.tokens import Ints

FIRST_STAGE_DEPTH = 40  # documents passed on to a reranker
Fits = Callable[[int, int], bool]


@dataclass(frozen=True)
class Candidates:
    """Candidates by document number: those of all queries, and those of queries with their own pool."""

    all: Ints
    of: Mapping[int, Ints]

    @staticmethod
    def read(source: Source, documents: Ints, tokens: TokenCollection) -> "Candidates":
        """The candidates listed in the data set, by default all its documents, and the pools listed in it."""
        folder = source.files[0].parent

        def numbered(file: str, columns: tuple[str, ...]) -> list[list[int]]:
            ids = [[source.prefix + id for id in row] for row in read_table(folder / file, columns)]
            return [[tokens.number(id) for id in row] for row in ids if all(id in tokens for id in row)]

        if (folder / "candidates.tsv").is_file():
            documents = np.array(numbered("candidates.tsv", ("document",)), dtype=np.int64).reshape(-1)
        pools: dict[int, list[int]] = {}
        if (folder / "pools.tsv").is_file():
            for query, document in numbered("pools.tsv", ("query", "document")):
                pools.setdefault(query, []).append(document)
        return Candidates(documents, {query: np.array(pool, dtype=np.int64) for query, pool in pools.items()})


class FirstStage:
    """BM25 over the candidates, with tokens as terms: a first stage for rerankers."""

    def __init__(self, tokens: TokenCollection, candidates: Candidates) -> None:
        self.tokens, self.candidates = tokens, candidates
        pool = candidates.all
        counts = [self._counts(number) for number in pool.tolist()]
        frequencies, mean_length = Frequencies.of(counts), float(tokens.lengths[pool].mean()) if len(pool) else 1.0
        self._weights = TermMatrix.of([bm25(document, frequencies, mean_length) for document in counts])

    def nearest(self, queries: Ints, most: int = FIRST_STAGE_DEPTH) -> Iterator[Ints]:
        """The best candidates of each query, best first, without the query itself."""
        for query in queries.tolist():
            order = np.argsort(-self._weights.scores(bm25_query(self._counts(query))), kind="stable")
            best = self.candidates.all[order]
            pool = self.candidates.of.get(query)
            best = best if pool is None else best[np.isin(best, pool)]
            yield best[best != query][:most]

    def _counts(self, number: int) -> Counts:
        return Counts.of(self.tokens.piece(number, 0, int(self.tokens.lengths[number])).astype(np.uint64))


@dataclass(frozen=True)
class NegativeSampler:
    """Samples non-matches: from all candidates, or from BM25's top results for the source."""

    kind: Literal["random", "near"]
    tokens: TokenCollection
    ids: Sequence[str]
    seed: int
    reachable: bool = False  # drop matches that the first stage misses: a reranker never sees them

    def with_negatives(
        self, rows: NumberedPairs, split: Split, tables: Sequence[NumberedPairs], candidates: Candidates
    ) -> PairTable:
        """The pairs of a split, with non-matches added if the table has none.

        One per match; in a table of judgements, `near` also fills up missing non-matches. Pairs that any table labels,
        in any split, are never sampled. If splits are derived from ids, the new pair belongs to the same split;
        otherwise training does not use documents that only validation and test label. What is sampled for a document
        depends only on the seed and its id; for validation and test it does not depend on the seed.
        """
        pairs, only_reachable = rows.of(split), self.reachable and split != "test"
        fills = len(pairs) > 0 and (self.kind == "near" or bool(pairs.label.all()))
        incomplete = fills and not rows.table.has_negatives
        near: Mapping[int, Ints] = {}  # the first stage's results for each source
        if only_reachable or (incomplete and self.kind == "near"):
            queries = np.unique(pairs.source)
            near = dict(zip(queries.tolist(), FirstStage(self.tokens, candidates).nearest(queries), strict=True))
        if only_reachable:
            each = zip(pairs.source.tolist(), pairs.target.tolist(), pairs.label.tolist(), strict=True)
            kept = np.array([not label or target in near[source] for source, target, label in each], dtype=bool)
            pairs = pairs.select(kept)
        if not incomplete:
            return pairs
        sources, places = np.unique(pairs.source, return_inverse=True)
        missing = np.maximum(np.bincount(places, weights=2 * pairs.label - 1).astype(np.int64), 0)
        fits = _negative_filter(rows, split, tables, self.ids)
        name = f"{self.seed if split == 'train' else 0}:{split}"
        pool = near.__getitem__ if self.kind == "near" else lambda source: candidates.all
        drawn = [
            (source, other, 0)
            for source, count in zip(sources.tolist(), missing.tolist(), strict=True)
            for other in _sample_negatives(source, count, pool(source), fits, Random(f"{name}:{self.ids[source]}"))
        ]
        columns = np.array(drawn, dtype=np.int64).reshape(-1, 3).T
        return PairTable.join([pairs, PairTable(*columns)])


def _sample_negatives(source: int, count: int, pool: Ints, fits: Fits, random: Random) -> Iterator[int]:
    """Sample `count` distinct documents; fewer if no more fit."""
    seen: set[int] = set()
    while count and len(seen) < len(pool):
        document = int(pool[random.randrange(len(pool))])
        if document in seen:
            continue
        seen.add(document)
        if document != source and fits(source, document):
            count -= 1
            yield document


def _negative_filter(rows: NumberedPairs, split: Split, tables: Sequence[NumberedPairs], ids: Sequence[str]) -> Fits:
    """A predicate for the non-matches that may be added to a split."""
    labelled = np.unique(np.concatenate([table.keys for table in tables]))
    later = _named(tables, [s for s in (0, 1, 2) if s > SPLITS.index(split)])
    foreign = set(np.setdiff1d(later, _named(tables, [SPLITS.index(split)])).tolist())

    def fits(source: int, other: int) -> bool:
        key = pair_keys(np.array([source]), np.array([other]), rows.collection)
        if other in foreign or lookup(labelled, key)[1][0]:
            return False
        return not rows.table.split_by_id or DEFAULT.of_pair(ids[source], ids[other]) == split

    return fits


def _named(tables: Sequence[NumberedPairs], splits: Sequence[int]) -> Ints:
    """The documents in the labels of these splits."""
    rows = [table.select(np.isin(table.split, splits)) for table in tables]
    return np.unique(np.concatenate([values for table in rows for values in (table.source, table.target)]))
