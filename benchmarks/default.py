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
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from statistics import median

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

from rich.console import Console
from rich.table import Table

from benchmarks.common import spread_documents
from longmatch.default.calibration import Calibration
from longmatch.default.encoding import Encoding
from longmatch.default.matcher import HybridMatcher
from longmatch.documents.document import Document
from longmatch.library.library import Library
from longmatch.library.model import LibraryModel
from longmatch.library.rows import to_table
from longmatch.library.store import Store
from longmatch.matching.sentence_vectors import vectors_of_tokens

K = 10
PLAIN = ("words", "phrases", "meaning")


@dataclass(frozen=True)
class Turn:
    """Seconds of both variants."""

    plain: float
    default: float

    def __add__(self, other: "Turn") -> "Turn":
        return Turn(self.plain + other.plain, self.default + other.default)


def side_by_side(plain: Callable[[], object], default: Callable[[], object], plain_first: bool) -> Turn:
    if plain_first:
        before, after = _seconds(plain), _seconds(default)
        return Turn(before, after)
    before, after = _seconds(default), _seconds(plain)
    return Turn(after, before)


def _seconds(run: Callable[[], object]) -> float:
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def indexing(shares: Sequence[list[Document]], matcher: HybridMatcher) -> tuple[list[Turn], list[Encoding]]:
    """One turn for each share of the documents; also returns the encodings of all."""

    def plain(documents: list[Document]) -> None:
        deque(vectors_of_tokens(matcher.tokenize(documents), matcher.backbone), maxlen=0)

    def default(documents: list[Document]) -> list[Encoding]:
        return matcher.encode_tokens(matcher.tokenize(documents))

    turns: list[Turn] = []
    encodings: list[Encoding] = []
    for number, share in enumerate(shares):
        encodings += default(share)  # to warm up
        turns.append(side_by_side(partial(plain, share), partial(default, share), number % 2 == 0))
    return turns, encodings


def ranking(plain: Library, default: Library, queries: Sequence[str], turns: int) -> list[Turn]:
    """Every turn runs all queries against both libraries."""
    for library in (plain, default):
        library.rank(queries[0], K)  # to warm up
    return [_rank_all(plain, default, queries, turn) for turn in range(turns)]


def _rank_all(plain: Library, default: Library, queries: Sequence[str], turn: int) -> Turn:
    each = (
        side_by_side(partial(plain.rank, query, K), partial(default.rank, query, K), (turn + number) % 2 == 0)
        for number, query in enumerate(queries)
    )
    return sum(each, Turn(0.0, 0.0))


def with_plain_sides(matcher: HybridMatcher) -> HybridMatcher:
    """The same matcher with the weights of all other sides set to 0."""
    statistics = matcher.statistics
    return HybridMatcher(matcher.backbone, replace(statistics, calibration=_plain(statistics.calibration)))


def _plain(calibration: Calibration) -> Calibration:
    scales = {n: s if n in PLAIN else replace(s, weight=0.0) for n, s in calibration.scales.items()}
    return replace(calibration, scales=scales)


def store_encodings(encodings: Sequence[Encoding], matcher: HybridMatcher, place: str) -> None:
    """Write a library; its index is made by the first query and does not depend on the calibration."""
    store = Store.create(place, LibraryModel.of(matcher))
    store.put(to_table(encodings))
    store.tidy()


def show(speeds: Sequence[float], delays: Sequence[float]) -> Table:
    table = Table("", "ratio", "range over turns", "target")
    table.add_row("indexing: tokens a second, relative to the plain backbone", *_figures(speeds), "at least 0.9")
    table.add_row(f"ranking: seconds, relative to {', '.join(PLAIN)}", *_figures(delays), "at most 1.5")
    return table


def _figures(ratios: Sequence[float]) -> tuple[str, str]:
    return f"{median(ratios):.2f}", f"{min(ratios):.2f} to {max(ratios):.2f}"


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
        store_encodings(encodings, matcher, place)
        default, plain = Library(place, matcher), Library(place, with_plain_sides(matcher))
        chosen = documents[:: max(1, len(documents) // options.queries)][: options.queries]
        ranked = ranking(plain, default, [document.id for document in chosen], options.turns)
        language, titles = default.searcher().index.rarity.trust
        sides = ", ".join(default.statistics.calibration.trusting(language, titles).sides)
    tokens = sum(map(len, matcher.tokenize(documents)))
    console.print(f"{len(documents)} documents, {tokens:,} tokens, {len(chosen)} queries; {matcher.backbone.runtime}")
    console.print(f"trust: language {language:.2f}, titles {titles:.2f}; sides that weigh: {sides}")
    console.print(show([t.plain / t.default for t in indexed], [t.default / t.plain for t in ranked]))


if __name__ == "__main__":
    main()
