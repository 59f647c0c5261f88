"""What two-stage search loses against scoring every document, by the number of candidates.

    python -m benchmarks.candidates DATA_FOLDER [--every 4]

The data folder is indexed once into out/library/. nDCG@10 over every fourth judged query: the exact score of all
documents, then of the candidates alone. Below it, words and phrases by themselves: from each document's heaviest terms,
as the first stage finds documents, and from all of them.
"""

import argparse
import os
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

import numpy as np
from rich.console import Console
from rich.table import Table

from longmatch.default.comparison import Query
from longmatch.lab.datasets.collection import DataFolder
from longmatch.lab.evaluation.measures import evaluate_run, nDCG
from longmatch.lexical.terms import KINDS, Kind
from longmatch.library.index.index import Index
from longmatch.library.library import Library
from longmatch.library.rows import INDEX_COLUMNS
from longmatch.library.search.candidates import find_candidates, term_scores
from longmatch.library.search.searcher import Searcher
from longmatch.library.settings import LibrarySettings

OUT = Path("out") / "library"
COUNTS = (10, 20, 40, 60, 100)
PRUNINGS = ((64, 128), (128, 256), (256, 512), (512, 1024), (10**9, 10**9))

Grades = dict[str, dict[str, int]]
Run = dict[str, dict[str, float]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--every", type=int, default=4)
    options = parser.parse_args()
    library = Library(OUT / options.data.name)
    library.add(DataFolder(options.data).documents_file)
    qrels = DataFolder(options.data).qrels()
    judged = {query: qrels[query] for query in sorted(qrels)[:: options.every]}
    console = Console(width=110)
    console.print(by_candidates(library.searcher(), judged), by_pruning(library, judged))


def by_candidates(searcher: Searcher, qrels: Grades) -> Table:
    """One row a number of candidates."""
    every = searcher.scope().ids
    exact = {}
    for name in qrels:
        best = searcher.score(_query(searcher, name), [id for id in every if id != name])
        exact[name] = dict(zip(best.ids, best.scores.tolist(), strict=True))
    base = _ndcg(exact, qrels)
    table = Table("best of each side", "documents scored", "nDCG@10", "loss", "same of the ten best")
    table.add_row("all", f"{len(every):,}", f"{base:.4f}", "", "10.00")
    for count in COUNTS:
        chosen = {query: _candidates(searcher, query, count) for query in qrels}
        run = {query: {id: exact[query][id] for id in ids} for query, ids in chosen.items()}
        same = np.mean([len(_best(run[query]) & _best(exact[query])) for query in qrels])
        scored, value = np.mean([len(ids) for ids in chosen.values()]), _ndcg(run, qrels)
        table.add_row(str(count), f"{scored:.0f}", f"{value:.4f}", f"{1 - value / base:.2%}", f"{same:.2f}")
    return table


def _query(searcher: Searcher, id: str) -> Query:
    return searcher.query(searcher.encodings([id])[0], id)


def _candidates(searcher: Searcher, query: str, count: int) -> Sequence[str]:
    return find_candidates(_query(searcher, query), searcher.index, searcher.scope(without=query), count)


def _best(run: dict[str, float]) -> set[str]:
    return set(sorted(run, key=lambda id: (-run[id], id))[:10])


def by_pruning(library: Library, qrels: Grades) -> Table:
    """One row a number of terms kept: what words and phrases alone find, and what the index weighs."""
    searcher = library.searcher()
    table = Table("words kept", "phrases kept", "words alone", "phrases alone", "index, kB a document")
    for words, phrases in PRUNINGS:
        settings = LibrarySettings(heaviest_words=words, heaviest_phrases=phrases)
        index = Index(OUT / "pruned", library.statistics, "", settings=settings)
        for rows in library.store.batches(INDEX_COLUMNS):
            index.add(rows)
        index.refresh_norms()
        ids = [id for segment in index.segments for id in segment.ids]
        values = [_ndcg(_first(searcher, index, kind, ids, qrels), qrels) for kind in KINDS]
        size = sum(file.stat().st_size for segment in index.segments for file in segment.folder.iterdir())
        kept = (f"{n:,}" if n < 10**9 else "all" for n in (words, phrases))
        table.add_row(*kept, *(f"{value:.4f}" for value in values), f"{size / len(ids) / 1e3:.0f}")
        shutil.rmtree(index.folder)
    return table


def _first(searcher: Searcher, index: Index, kind: Kind, ids: Sequence[str], qrels: Grades) -> Run:
    def scores(query: str) -> dict[str, float]:
        pruned = replace(searcher, index=index).query(searcher.encodings([query])[0])
        values = term_scores(kind, pruned, index).tolist()
        return {id: value for id, value in zip(ids, values, strict=True) if id != query}

    return {query: scores(query) for query in qrels}


def _ndcg(run: Run, qrels: Grades) -> float:
    return evaluate_run(nDCG(10), qrels, run)


if __name__ == "__main__":
    main()
