"""What the default matcher's sides cost: indexing compared with the plain backbone, ranking with three sides alone.

    python -m benchmarks.default DATA_FOLDER_OR_JSONL [--documents 120] [--queries 20] [--turns 5]

- indexing: tokens a second of `HybridMatcher.encode_tokens` (sentence vectors, their chance expectations, terms, title
  vectors) compared with `vectors_of_tokens` alone. Both tokenise the same documents, which are divided among the turns;
  what a document or the backbone caches is computed before.
- ranking: seconds of `Library.rank(id, k=10)`, without passages, with the calibration that ships compared with one in
  which only words, phrases and meaning weigh, over one library of all the documents.

In each turn both variants run one after the other, in alternating order; a ratio is the median over the turns, so that
other load on the machine affects both. Titles count from 50 documents on, fully from 200 if they are sentences in a
known language (the printed trust says how far), and up to 181 documents a ranking scores them all, beyond that only
candidates: `--documents 200` shows the cost in large libraries.
"""

import argparse
import os
import tempfile
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from statistics import median

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

from rich.console import Console
from rich.table import Table

from benchmarks.common import spread_documents
from longmatch.default.encoding import Encoding
from longmatch.default.matcher import HybridMatcher
from longmatch.default.meaning import encode_sentences
from longmatch.documents.document import Document
from longmatch.library.library import Library
from longmatch.library.model import LibraryModel
from longmatch.library.rows import to_table
from longmatch.library.store import Store

K = 10
PLAIN = ("words", "phrases", "meaning")


Seconds = tuple[float, float]  # with the plain sides or backbone, and by default


def side_by_side(plain: Callable[[], object], default: Callable[[], object], plain_first: bool) -> Seconds:
    """Seconds of both variants, which run one after the other."""
    spent = {}
    for run in (plain, default) if plain_first else (default, plain):
        start = time.perf_counter()
        run()
        spent[run] = time.perf_counter() - start
    return spent[plain], spent[default]


def indexing(shares: Sequence[list[Document]], matcher: HybridMatcher) -> tuple[list[Seconds], list[Encoding]]:
    """One turn for each share of the documents; also returns the encodings of all."""

    def plain(documents: list[Document]) -> None:
        deque(encode_sentences(documents, matcher.backbone), maxlen=0)

    def default(documents: list[Document]) -> list[Encoding]:
        return matcher.encode_tokens(matcher.tokenize(documents))

    turns: list[Seconds] = []
    encodings: list[Encoding] = []
    for number, share in enumerate(shares):
        encodings += default(share)  # to warm up
        turns.append(side_by_side(partial(plain, share), partial(default, share), number % 2 == 0))
    return turns, encodings


def ranking(plain: Library, default: Library, queries: Sequence[str], turns: int) -> list[Seconds]:
    """Every turn runs all queries against both libraries."""
    for library in (plain, default):
        library.rank(queries[0], K)  # to warm up
    found = []
    for turn in range(turns):
        each = [
            side_by_side(partial(plain.rank, query, K), partial(default.rank, query, K), (turn + number) % 2 == 0)
            for number, query in enumerate(queries)
        ]
        found.append((sum(seconds[0] for seconds in each), sum(seconds[1] for seconds in each)))
    return found


def with_plain_sides(matcher: HybridMatcher) -> HybridMatcher:
    """The same matcher with the weights of all other sides set to 0."""
    calibration = matcher.statistics.calibration
    scales = {n: s if n in PLAIN else replace(s, weight=0.0) for n, s in calibration.scales.items()}
    statistics = replace(matcher.statistics, calibration=replace(calibration, scales=scales))
    return HybridMatcher(matcher.backbone, statistics)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("documents_of", metavar="DATA_FOLDER_OR_JSONL", type=Path)
    parser.add_argument("--documents", type=int, default=120)
    parser.add_argument("--queries", type=int, default=20)
    parser.add_argument("--turns", type=int, default=5)
    options = parser.parse_args()
    console = Console(width=110)
    matcher = HybridMatcher()
    documents = spread_documents(options.documents_of, options.documents)
    indexed, encodings = indexing([documents[i :: options.turns] for i in range(options.turns)], matcher)
    with tempfile.TemporaryDirectory(prefix="default-") as place:
        store = Store.create(place, LibraryModel.of(matcher))  # the first query makes the index, without a calibration
        store.put(to_table(encodings))
        store.tidy()
        default, three_sides = Library(place, matcher), Library(place, with_plain_sides(matcher))
        chosen = documents[:: max(1, len(documents) // options.queries)][: options.queries]
        ranked = ranking(three_sides, default, [document.id for document in chosen], options.turns)
        language, titles = default.searcher().index.rarity.trust
        sides = ", ".join(default.statistics.calibration.trusting(language, titles).sides)
    tokens = sum(map(len, matcher.tokenize(documents)))
    console.print(f"{len(documents)} documents, {tokens:,} tokens, {len(chosen)} queries; {matcher.backbone.runtime}")
    console.print(f"trust: language {language:.2f}, titles {titles:.2f}; sides that weigh: {sides}")
    speeds = "indexing: tokens a second, relative to the plain backbone", [plain / usual for plain, usual in indexed]
    delays = f"ranking: seconds, relative to {', '.join(PLAIN)}", [usual / plain for plain, usual in ranked]
    table = Table("", "ratio", "range over turns", "target")
    for (what, ratios), target in ((speeds, "at least 0.9"), (delays, "at most 1.5")):
        table.add_row(what, f"{median(ratios):.2f}", f"{min(ratios):.2f} to {max(ratios):.2f}", target)
    console.print(table)


if __name__ == "__main__":
    main()
