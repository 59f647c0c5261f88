"""What a library costs by its size: disk, memory, indexing, time for a question; and what that makes for a million.

    python -m benchmarks.cost DATA_FOLDER [--sizes 1000 4000 16000] [--encoded 48] [--queries 10] [--to 1000000]

Reading, tokenising and encoding treat each document alone, so they are measured on `--encoded` real ones. What may grow
with the library (laying out, storing, indexing, tidying up, asking) is measured at every size, each in a process of its
own; beyond the data folder's documents others are drawn around real ones, as in benchmarks/library.py. Seconds are
processor time of all threads: what else the machine does hardly counts. Memory is the process's own; the index, which
is mapped from disk and given back when room is needed, stands apart.

The model: disk and mapped index grow by as much a document as between the two largest sizes; storing by c n^p, asking
and own memory by a + b n, each fitted to all sizes. With documents of another length all but the reading by scale with
it.
"""

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.common import bytes_on_disk, in_own_process, memory_of, spread_documents
from benchmarks.library import drawn_steps, finish, real_library
from longmatch.default.matcher import HybridMatcher
from longmatch.documents.read import read_all
from longmatch.lab.datasets.collection import DataFolder
from longmatch.library.library import Library
from longmatch.library.rows import rows_of, to_table
from longmatch.library.store import Store
from longmatch.library.writer import CurrentIndex

STEP = 64  # documents a commit, as in indexing


@dataclass(frozen=True)
class Alone:
    """Processor seconds for one document, whatever the size of the library."""

    words: float
    tokens: float
    reading: float
    tokenizing: float
    encoding: float
    computes: str

    @property
    def seconds(self) -> float:
        """All of it."""
        return self.reading + self.tokenizing + self.encoding


@dataclass(frozen=True)
class Cost:
    """A library of one size."""

    documents: int
    disk: float  # bytes, the index among them
    mapped: float  # bytes of the index
    storing: float  # processor seconds: rows laid out, stored, indexed, tidied up
    filling_memory: float  # bytes, at most
    asking: float  # processor seconds for the ten best with passages
    asking_memory: float  # bytes, at most


def alone(data: Path, count: int) -> Alone:
    """Real documents, spread over the data folder, read and encoded."""
    file = DataFolder(data).documents_file
    start = time.process_time()
    seen = sum(1 for _ in read_all(file, print))
    reading = (time.process_time() - start) / seen
    documents = spread_documents(data, count)
    matcher = HybridMatcher()
    matcher.encode(documents[:4])  # to warm up
    start = time.process_time()
    tokens = matcher.tokenize(documents)
    middle = time.process_time()
    matcher.encode_tokens(tokens)
    ended = time.process_time()
    counted = sum(d.words for d in documents), sum(map(len, tokens)), middle - start, ended - middle
    words, read, tokenizing, encoding = (figure / len(documents) for figure in counted)
    return Alone(words, read, reading, tokenizing, encoding, matcher.backbone.runtime)


def fill(real: Library, place: Path, size: int) -> tuple[float, float]:
    """Make a library of so many documents; processor seconds without the drawing, and the most memory."""
    store = Store.create(str(place), real.store.model)
    index = CurrentIndex(store, place, real.statistics, keeps_records=True).open()
    spent = most = 0.0
    for encodings in drawn_steps(real, size, STEP):
        start = time.process_time()
        index.add(rows_of(store.put(to_table(encodings))))
        index.save(store.version)
        spent += time.process_time() - start
        most = max(most, memory_of())
    start = time.process_time()
    finish(store, index)
    return spent + time.process_time() - start, max(most, memory_of())


def ask(place: Path, queries: int) -> tuple[float, float]:
    """Processor seconds for a question, and the most memory."""
    library = Library(place, create=False)
    ids = list(library)
    chosen = ids[:: max(1, len(ids) // queries)][:queries]
    library.rank(chosen[0])  # to open everything
    times, most = [], 0.0
    for id in chosen:
        start = time.process_time()
        assert library.rank(id, k=10)[0].why
        times.append(time.process_time() - start)
        most = max(most, memory_of())
    return median(times), most


def cost(data: Path, size: int, queries: int) -> Cost:
    """Each part in a process of its own."""
    with tempfile.TemporaryDirectory(prefix="cost-", dir="out") as place:
        library = Path(place) / "library"
        storing, filling = in_own_process("benchmarks.cost", "--part", "fill", data, library, size)
        asking, memory = in_own_process("benchmarks.cost", "--part", "ask", data, library, queries)
        return Cost(size, bytes_on_disk(library), bytes_on_disk(library / "index"), storing, filling, asking, memory)


def extrapolated(costs: Sequence[Cost], to: int) -> tuple[Cost, float]:
    """The same at another size by the model, and the exponent of storing."""
    sizes = np.array([c.documents for c in costs], dtype=np.float64)

    def line(name: str) -> float:
        slope, start = np.polyfit(sizes, [getattr(c, name) for c in costs], 1)
        return float(start + max(0.0, slope) * to)

    def steps(name: str) -> float:
        first, last = costs[-2], costs[-1]
        more = (getattr(last, name) - getattr(first, name)) / (last.documents - first.documents)
        return float(getattr(last, name) + more * (to - last.documents))

    power, factor = np.polyfit(np.log(sizes), np.log([c.storing for c in costs]), 1)
    storing = float(np.exp(factor) * to**power)
    fitted = line("filling_memory"), line("asking"), line("asking_memory")
    return Cost(to, steps("disk"), steps("mapped"), storing, *fitted), float(power)


def show(single: Alone, costs: Sequence[Cost], to: int) -> None:
    last, power = extrapolated(costs, to)
    table = Table("documents", "disk GB", "index GB", "storing h", "encoding h", "memory MB", "asking ms", "memory MB ")
    for c in [*costs, last]:
        hours = f"{c.storing / 3600:.3f}", f"{c.documents * single.seconds / 3600:.2f}"
        sizes = f"{c.disk / 1e9:.2f}", f"{c.mapped / 1e9:.2f}"
        asked = f"{c.filling_memory / 1e6:,.0f}", f"{1e3 * c.asking:.0f}", f"{c.asking_memory / 1e6:,.0f}"
        table.add_row(f"{c.documents:,}", *sizes, *hours, *asked)
    console = Console(width=120)
    console.print(table)
    console.print(
        f"A document: {single.words:,.0f} words, {single.tokens:,.0f} tokens; ms of processor time: reading "
        f"{1e3 * single.reading:.1f}, tokenising {1e3 * single.tokenizing:.1f}, encoding {1e3 * single.encoding:.0f} "
        f"({single.computes}). Hours of one core. The last row is the model's; storing grows by n^{power:.2f}."
    )


def main() -> None:
    if sys.argv[1:2] == ["--part"]:  # the process that measures one part
        name, data, library, count = sys.argv[2:]
        of_part = (
            fill(real_library(Path(data)), Path(library), int(count))
            if name == "fill"
            else ask(Path(library), int(count))
        )
        print(json.dumps(of_part))
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--sizes", type=int, nargs="+", default=[1_000, 4_000, 16_000])
    parser.add_argument("--encoded", type=int, default=48)
    parser.add_argument("--queries", type=int, default=10)
    parser.add_argument("--to", type=int, default=1_000_000)
    parser.add_argument("--out", type=Path, help="a JSON file for the figures")
    options = parser.parse_args()
    real_library(options.data)
    costs = [cost(options.data, size, options.queries) for size in sorted(options.sizes)]
    single = alone(options.data, options.encoded)
    show(single, costs, options.to)
    if options.out:
        last, power = extrapolated(costs, options.to)
        figures = {"alone": asdict(single), "measured": [asdict(c) for c in costs], "extrapolated": asdict(last)}
        options.out.write_text(json.dumps(figures | {"storing_power": power}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
