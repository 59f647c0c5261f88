"""The candidate documents of queries, and a BM25 first stage over them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from longmatch.lab.datasets.records import read_table
from longmatch.lab.store.tokens import TokenCollection
from longmatch.lab.training.data.sources import Source
from longmatch.lexical.frequencies import Frequencies
from longmatch.lexical.terms import Counts
from longmatch.lexical.weights import TermMatrix, bm25, bm25_query
from longmatch.units.tokens import Ints

FIRST_STAGE_DEPTH = 40  # documents passed on to a reranker


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
