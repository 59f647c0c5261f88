"""What keeping sentence vectors in int8 costs: nDCG@10 and bytes on disk beside float16.

    python -m benchmarks.vectors DATA_FOLDER [DATA_FOLDER ...] [--split test] [--every 1]

A data folder is indexed once into out/library/ in float16; the library in int8 is made from its vectors. Each judged
query of the split, or every n-th, is asked of both, as `longmatch rank` asks: the candidates by words, phrases and
document vector, then their exact score. `meaning alone` orders the same candidates by their sentence vectors only,
where nothing else makes up for a lost digit. p is that of a randomisation test over the queries.
"""

import argparse
import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

import numpy as np
import numpy.typing as npt
from rich.console import Console
from rich.table import Table

from benchmarks.common import bytes_on_disk
from longmatch.lab.datasets.collection import DataFolder
from longmatch.lab.datasets.records import SPLITS, Split
from longmatch.lab.evaluation.measures import QueryResult, nDCG, rank_query
from longmatch.lab.evaluation.significance import compare_queries
from longmatch.library.library import Library
from longmatch.library.model import LibraryModel
from longmatch.library.rows import ENCODING_COLUMNS, to_table
from longmatch.library.search.candidates import find_candidates
from longmatch.library.search.score import sentence_scores
from longmatch.library.store import Store

OUT = Path("out") / "library"
Values = npt.NDArray[np.float64]
Grades = Mapping[str, Mapping[str, int]]


def in_int8(library: Library) -> Library:
    """The same documents, their vectors rounded."""
    place = Path(f"{library.address}-int8")
    shutil.rmtree(place, ignore_errors=True)
    store = Store.create(str(place), LibraryModel.of(library.matcher, "int8"))
    for rows in library.store.batches(ENCODING_COLUMNS):
        store.put(to_table([row.encoding() for row in rows], "int8"))
    store.tidy(vectors=False)
    return Library(place, library.matcher, create=False)


def values(library: Library, qrels: Grades) -> dict[str, Values]:
    """nDCG@10 of every query, by the library's score and by meaning alone."""
    searcher = library.searcher()
    results: dict[str, list[QueryResult]] = {"default": [], "meaning alone": []}
    for id, grades in qrels.items():
        query = searcher.query(searcher.encodings([id])[0], id)
        ids = find_candidates(query, searcher.index, searcher.scope(without=id), searcher.settings.candidates)
        best = searcher.score(query, ids)
        sentences = [document.unpacked() for document in searcher.store.sentences(ids)]
        meaning = sentence_scores(query.encoding.sentence_vectors, sentences)
        results["default"].append(rank_query(grades, dict(zip(best.ids, best.scores.tolist(), strict=True))))
        results["meaning alone"].append(rank_query(grades, dict(zip(ids, meaning.tolist(), strict=True))))
    return {name: nDCG(10).each(found) for name, found in results.items()}


def compare(folders: Sequence[Path], split: Split, every: int) -> Table:
    """One row a data folder and way to score."""
    table = Table("data", "queries", "score", "float16", "int8", "difference", "p", "kB a document")
    for data in folders:
        library = Library(OUT / data.name)
        library.add(DataFolder(data).documents_file)
        judged = DataFolder(data).qrels(split)
        qrels = {query: judged[query] for query in sorted(judged)[::every]}
        small = in_int8(library)
        before, after = values(library, qrels), values(small, qrels)
        sizes = ", ".join(f"{bytes_on_disk(Path(each.address)) / len(each) / 1e3:.0f}" for each in (library, small))
        for name in before:
            found = compare_queries(after[name], before[name])
            figures = f"{before[name].mean():.4f}", f"{after[name].mean():.4f}", f"{found.difference:+.5f}"
            table.add_row(data.name, f"{len(qrels):,}", name, *figures, f"{found.p:.2f}", sizes)
    return table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, nargs="+")
    parser.add_argument("--split", default="test", choices=SPLITS)
    parser.add_argument("--every", type=int, default=1)
    options = parser.parse_args()
    Console(width=120).print(compare(options.data, options.split, options.every))


if __name__ == "__main__":
    main()
