"""Among which documents a data set has the answers to a query looked for."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from longmatch.lab.datasets.records import read_table
from longmatch.lab.store.tokens import TokenCollection
from longmatch.lab.training.data.sources import Source
from longmatch.units.tokens import Ints


@dataclass(frozen=True)
class Candidates:
    """Numbers of documents: those of all queries, and those of a query that has a pool of its own."""

    all: Ints
    of: Mapping[int, Ints]

    @staticmethod
    def read(source: Source, documents: Ints, tokens: TokenCollection) -> "Candidates":
        """The candidates that the data set names, else all its documents; and the pools that it names."""
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
