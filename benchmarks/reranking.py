"""What a question costs when a second model reranks its best documents.

    python benchmarks/reranking.py DATA_FOLDER MODEL_FOLDER [...] [--depth 40] [--questions 20]

The data folder is indexed once into out/library/. The same documents of it are asked without a second model and with
each one, in turns; the milliseconds are medians over the questions, the ratio is that to the library alone. What a
model was trained on makes no difference to its speed. Shared machines: trust the ratios.
"""

import argparse
import os
import time
from pathlib import Path
from statistics import median

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

from rich.console import Console
from rich.table import Table

from longmatch.lab.datasets.collection import DataFolder
from longmatch.library.library import Library
from longmatch.matching.matcher import Matcher
from longmatch.models.loading import load

OUT = Path("out") / "library"


def milliseconds(library: Library, query: str, model: Matcher | None, depth: int) -> float:
    """Of the ten best, with their passages."""
    start = time.perf_counter()
    library.rank(query, rerank=model, depth=depth)
    return 1000 * (time.perf_counter() - start)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("models", type=Path, nargs="+")
    parser.add_argument("--depth", type=int, default=40)
    parser.add_argument("--questions", type=int, default=20)
    options = parser.parse_args()
    library = Library(OUT / options.data.name)
    library.add(DataFolder(options.data).documents_file)
    models: dict[str, Matcher | None] = {"the library alone": None}
    models |= {folder.name: load(str(folder)) for folder in options.models}
    queries = sorted(DataFolder(options.data).qrels())[: options.questions + 1]
    for model in models.values():
        milliseconds(library, queries[0], model, options.depth)  # what is read once
    turns = [
        {name: milliseconds(library, q, model, options.depth) for name, model in models.items()} for q in queries[1:]
    ]
    table = Table(f"reranking the best {options.depth}", "ms a question", "times the library alone")
    for name in models:
        ratio = median(turn[name] / turn["the library alone"] for turn in turns)
        table.add_row(name, f"{median(turn[name] for turn in turns):.0f}", f"{ratio:.1f}")
    Console().print(table)


if __name__ == "__main__":
    main()
