"""A library of 1,000, 10,000 and 100,000 documents: bytes a document, memory, time for the ten best with explanation.

    python -m benchmarks.library DATA_FOLDER [--sizes 1000 10000 100000] [--queries 20]

The documents are those of the data folder, encoded once into out/library/. Beyond them, documents are drawn around real
ones: a real document's sentence vectors with noise, and its words with a fifth exchanged for words of other documents.
They are marked by a ~ in their ids, and in the table. Beside the library, on the same vectors: what a user would pick
instead, an exact FAISS scan of all sentence vectors with max-pooling by document, and sentence-transformers' semantic
search (pip install faiss-cpu sentence-transformers). Each way is measured in a process of its own.
"""

import argparse
import json
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import median

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

import numpy as np
import numpy.typing as npt
from rich.console import Console
from rich.table import Table

from benchmarks.common import bytes_on_disk, in_own_process, memory_of
from longmatch.default.encoding import Encoding
from longmatch.lab.datasets.collection import DataFolder
from longmatch.lab.evaluation.measures import evaluate_run, nDCG
from longmatch.lexical.terms import Hashes, Stream, Terms
from longmatch.library.index.index import Index
from longmatch.library.library import Library
from longmatch.library.rows import ENCODING_COLUMNS, rows_of, to_table
from longmatch.library.store import Store, is_library
from longmatch.library.writer import CurrentIndex
from longmatch.matching.levels import SentenceVectors
from longmatch.ragged import unit_rows

OUT = Path("out") / "library"
NEAR = 100  # sentences found for each of the query's, by the two alternatives
NOISE = 0.3  # length of the noise added to a sentence vector of length 1
BestTen = Callable[[str], list[str]]  # the ids for a query
Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]


def real_library(data: Path) -> Library:
    """The documents of a data folder, encoded once."""
    library = Library(OUT / data.name)
    with Console().status("encoding (once)"):
        library.add(DataFolder(data).documents_file)
    return library


def library_of(size: int, real: Library) -> Path:
    """A library of so many documents: the real ones, and others drawn around them."""
    place = OUT / f"{Path(real.address).name}-{size}"
    if is_library(place) and len(Library(place)) == size:
        return place
    store = Store.create(str(place), real.store.model)
    index = CurrentIndex(store, place, real.statistics, keeps_records=True).open()
    with Console().status(f"writing {size} documents"):
        for encodings in drawn_steps(real, size):
            index.add(rows_of(store.put(to_table(encodings))))
            index.save(store.version)
        finish(store, index)
    return place


def finish(store: Store, index: Index) -> None:
    """As indexing leaves a library: few parts, true norms."""
    store.tidy()
    index.merge()
    index.refresh_norms()
    index.save(store.version)


def drawn_steps(real: Library, size: int, together: int = 256) -> Iterator[list[Encoding]]:
    """So many documents, some at a time: the real ones, then others drawn around them."""
    chance = np.random.default_rng(0)
    ids = list(real)
    for start in range(0, size, together):
        numbers = range(start, min(size, start + together))
        encodings = [row.encoding() for row in real.store.fetch([ids[n % len(ids)] for n in numbers], ENCODING_COLUMNS)]
        words = np.concatenate([e.terms.words.ids for e in encodings])
        yield [_drawn(e, n // len(ids), words, chance) for n, e in zip(numbers, encodings, strict=True)]


def _drawn(encoding: Encoding, copy: int, words: Hashes, chance: np.random.Generator) -> Encoding:
    """A document around a real one; the first copy is the real one itself."""
    if not copy:
        return encoding
    vectors = encoding.sentence_vectors.vectors
    noise = chance.standard_normal(vectors.shape, dtype=np.float32) * np.float32(NOISE / vectors.shape[1] ** 0.5)
    stream = encoding.terms.words
    exchanged = chance.random(len(stream.ids)) < 0.2
    ids = np.where(exchanged, chance.choice(words, len(stream.ids)), stream.ids)
    document = replace(encoding.document, id=f"{encoding.document.id}~{copy}")
    return Encoding(
        replace(encoding.sentences, document=document),
        SentenceVectors(unit_rows(vectors + noise), encoding.sentence_vectors.expectations),
        Terms(Stream(ids, stream.offsets)),
    )


def ask_library(place: Path) -> BestTen:
    library = Library(place)
    library.searcher().preload()  # as much as it keeps; the others hold all vectors
    return lambda query: [hit.id for hit in library.rank(query, k=10)]


def ask_faiss(place: Path) -> BestTen:
    """The best 100 sentences for each of the query's, exactly; the best of each document, summed over the query's."""
    import faiss

    vectors, home, ids, bounds = _sentences(place)
    index = faiss.IndexFlatIP(vectors.shape[1])
    index.add(vectors)

    def answer(query: str) -> list[str]:
        scores, places = index.search(vectors[bounds[query]], NEAR)
        return _pooled(scores, places, home, ids, query)

    return answer


def ask_semantic_search(place: Path) -> BestTen:
    """The same by sentence-transformers."""
    import torch
    from sentence_transformers.util import semantic_search

    vectors, home, ids, bounds = _sentences(place)
    corpus = torch.from_numpy(vectors)

    def answer(query: str) -> list[str]:
        found = semantic_search(corpus[bounds[query]], corpus, top_k=NEAR)
        scores = np.array([[hit["score"] for hit in row] for row in found])
        places = np.array([[hit["corpus_id"] for hit in row] for row in found])
        return _pooled(scores, places, home, ids, query)

    return answer


def _sentences(place: Path) -> tuple[Floats, Ints, list[str], dict[str, slice]]:
    """All sentence vectors, the document of each, the ids, and where each document's sentences are."""
    parts, ids = [], []
    for rows in Store.open(str(place)).batches(["id", "vectors", "pieces"], 256):
        for row in rows:
            ids.append(row.id)
            parts.append(row.array("vectors").astype(np.float32).reshape(len(row.value("pieces")), -1))
    ends = np.cumsum([len(part) for part in parts])
    bounds = {id: slice(end - len(part), end) for id, end, part in zip(ids, ends.tolist(), parts, strict=True)}
    return np.concatenate(parts), np.repeat(np.arange(len(ids)), [len(p) for p in parts]), ids, bounds


def _pooled(scores: Floats, places: Ints, home: Ints, ids: list[str], query: str) -> list[str]:
    """The ten best documents: of each the best sentence for each of the query's, added up."""
    total = np.zeros(len(ids))
    for row, found in zip(scores, home[places], strict=True):
        best = np.zeros(len(ids))
        np.maximum.at(best, found, row)
        total += best
    order = [ids[i] for i in np.argsort(-total, kind="stable")[:11]]
    return [id for id in order if id != query][:10]


WAYS = {"longmatch": ask_library, "FAISS": ask_faiss, "semantic_search": ask_semantic_search}


def measure(way: str, place: Path, queries: Sequence[str]) -> None:
    """Ask in this process; print seconds for a question, bytes of memory and the answers as JSON."""
    answer = WAYS[way](place)
    answer(queries[0])
    times, found = [], {}
    for query in queries:
        start = time.perf_counter()
        found[query] = answer(query)
        times.append(time.perf_counter() - start)
    print(json.dumps([median(times), memory_of(key="VmHWM"), found]))


def compare(data: Path, sizes: Sequence[int], count: int) -> None:
    """Print one row a size and way. Answers can be judged among the real documents alone: the first size."""
    real = real_library(data)
    qrels = DataFolder(data).qrels("test") or DataFolder(data).qrels()
    queries = sorted(qrels)[:: max(1, len(qrels) // count)][:count]
    table = Table("documents", "of them drawn", "way", "kB a document", "memory MB", "ms for ten", "times", "nDCG@10")
    memory_here = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    for size in [len(real), *sizes]:
        place = library_of(size, real)
        base = 0.0
        store = Store.open(str(place))
        counts = (len(row.array("offsets")) - 1 for rows in store.batches(["id", "offsets"], 1024) for row in rows)
        bytes_of_vectors = sum(counts) * store.model.width * 4  # in float32
        for way in WAYS:
            needed = 0 if way == "longmatch" else bytes_of_vectors
            if needed > memory_here / 3:
                table.add_row(f"{size:,}", "", way, "", f"over {needed / 1e6:,.0f}", "does not fit", "", "")
                continue
            seconds, memory, found = in_own_process("benchmarks.library", "--way", way, place, *queries)
            base = base or seconds
            runs = {query: {id: -float(rank) for rank, id in enumerate(ids)} for query, ids in found.items()}
            ndcg = evaluate_run(nDCG(10), {query: qrels[query] for query in found}, runs)
            judged = f"{ndcg:.3f}" if size == len(real) else ""
            disk = f"{bytes_on_disk(place) / size / 1e3:.0f}" if way == "longmatch" else ""
            drawn = f"{max(0, size - len(real)):,}"
            numbers = f"{memory / 1e6:,.0f}", f"{1e3 * seconds:.0f}", f"{seconds / base:.2f}"
            table.add_row(f"{size:,}", drawn, way, disk, *numbers, judged)
    Console(width=120).print(table)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--sizes", type=int, nargs="*", default=[1_000, 10_000, 100_000])
    parser.add_argument("--queries", type=int, default=20)
    if sys.argv[1:2] == ["--way"]:  # the process that measures
        _, _, way, place, *queries = sys.argv
        measure(way, Path(place), queries)
        return
    options = parser.parse_args()
    compare(options.data, options.sizes, options.queries)


if __name__ == "__main__":
    main()
