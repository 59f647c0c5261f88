"""What the default learns from: the sides of each query's best documents, and of labelled and unrelated pairs."""

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from longmatch.default.calibration import Calibration, Scale
from longmatch.default.collection import Collection
from longmatch.default.matcher import HybridMatcher
from longmatch.default.rarity import Rarity, known_of
from longmatch.default.sides import NAMES, SIDES
from longmatch.lab.datasets.collection import DataFolder
from longmatch.lab.datasets.records import Split
from longmatch.lab.evaluation.corpus import Corpus
from longmatch.lab.evaluation.measures import Floats
from longmatch.lab.evaluation.protocols import EvaluationTask
from longmatch.lab.evaluation.scoring.default import CorpusScorer
from longmatch.lab.store.store import LayerStore
from longmatch.ragged import offsets_of

FLOORS = {side.name: side.floor for side in SIDES}
PASSAGE_SIDES = tuple(side.name for side in SIDES if side.explained_by != "document")  # words, phrases, meaning
FINDERS = tuple(side.name for side in SIDES if not side.needs_titles)  # their best documents make up a query's list
BEST = 60  # documents of each finder in a query's list
DEPTH = 10  # of nDCG
UNRELATED = 20  # documents drawn at random for each source of pairs
LONE = 80  # related pairs, and as many random ones, that are compared by themselves

SideValues = dict[str, Floats]


class SideScorer(CorpusScorer):
    """The similarities of queries with every document on all sides, whatever they weigh today."""

    def __init__(self, matcher: HybridMatcher) -> None:
        super().__init__(matcher)
        self.sides = NAMES

    @property
    def trust(self) -> Floats:
        """How far each side is trusted in this corpus."""
        even = Calibration({name: Scale(1.0, 1.0, 0.0) for name in NAMES}, 1.0, 0.0)
        trusted = even.trusting(*self.candidates.rarity.trust)
        return np.array([trusted.scales[name].weight for name in NAMES])

    def each(self, numbers: Sequence[int], sides: Sequence[str] = NAMES) -> Iterator[tuple[int, SideValues]]:
        """For the documents of these numbers, the value with every document of the corpus by side.

        `lengths` are the documents' numbers of words.
        """
        lengths = self.candidates.lengths.astype(np.float64)
        for number in numbers:
            if number not in self.unhandled:
                yield number, {**self.candidates.similarities(self.encoding(number), sides), "lengths": lengths}


def open_scorer(matcher: HybridMatcher, corpus: Corpus, layers: Path) -> SideScorer:
    """Encode a corpus, or take its encodings from the folder `layers`, and make it ready to score."""
    scorer = SideScorer(matcher)
    scorer.open(LayerStore.of(layers, corpus.source).build(scorer.layers), corpus)
    return scorer


@dataclass(frozen=True)
class QueryLists:
    """For each query a list of documents, end to end."""

    sides: npt.NDArray[np.float32]  # (documents, NAMES)
    grades: npt.NDArray[np.int64]  # of each document
    offsets: npt.NDArray[np.int64]  # where each query's list begins, and the end
    wanted: npt.NDArray[np.int64]  # the best grades there are: (queries, DEPTH), falling
    lengths: npt.NDArray[np.float32]  # words of the query and of the document: (documents, 2)
    trust: npt.NDArray[np.float32]  # in each side, in this collection

    def __len__(self) -> int:
        return len(self.wanted)

    @staticmethod
    def read(path: Path) -> "QueryLists":
        """Read what `write` wrote."""
        with np.load(path) as arrays:
            return QueryLists(**arrays)

    def write(self, path: Path) -> None:
        """Write as .npz."""
        np.savez_compressed(path, **vars(self))


def query_lists(corpus: Corpus, scorer: SideScorer, split: Split, limit: int | None = None) -> QueryLists:
    """The best documents of each query by any of the finders, with all sides and grades; of at most `limit` queries."""
    task = EvaluationTask.of(corpus, split, pairs=False, limit=limit)
    lists = []
    for number, sides in scorer.each(task.numbers(corpus)):
        id = corpus.ids[number]
        right = {corpus.number[answer]: grade for answer, grade in task.qrels[id].items()}
        pool = np.array([corpus.number[other] for other in corpus.folder.pool(id)], dtype=np.int64)
        best = [pool[np.argsort(-sides[side][pool], kind="stable")[:BEST]] for side in FINDERS]
        rows = np.unique(np.concatenate(best))
        words = sides["lengths"]
        lists.append(
            (
                np.stack([sides[side][rows] for side in NAMES], axis=1).astype(np.float32),
                np.array([right.get(row, 0) for row in rows.tolist()], dtype=np.int64),
                np.array((sorted(right.values(), reverse=True) + [0] * DEPTH)[:DEPTH], dtype=np.int64),
                np.stack([np.full(len(rows), words[number]), words[rows]], axis=1).astype(np.float32),
            )
        )
    parts, grades, wanted, lengths = zip(*lists, strict=True)
    offsets = offsets_of(np.array([len(part) for part in parts]))
    flat = np.concatenate(parts), np.concatenate(grades), offsets, np.stack(wanted), np.concatenate(lengths)
    return QueryLists(*flat, scorer.trust.astype(np.float32))


@dataclass(frozen=True)
class PairSides:
    """A set's labelled pairs by side, and pairs drawn at random that no label names.

    `lone` are some related and some random pairs compared by themselves, without their collection, with a background
    text of kinds among which theirs is (known) or is not (unknown).
    """

    labelled: SideValues
    labels: npt.NDArray[np.bool_]
    unrelated: SideValues
    trust: tuple[float, float]  # in the language, and in titles
    lone: Mapping[str, SideValues]  # "known related", "known random", "unknown related", "unknown random"

    @staticmethod
    def read(path: Path) -> "PairSides":
        """Read what `write` wrote."""
        with np.load(path) as arrays:
            tables: dict[str, SideValues] = {}
            for key in arrays.files:
                table, _, name = key.rpartition("/")
                if table:
                    tables.setdefault(table, {})[name] = arrays[key].astype(np.float64)
            labelled, unrelated = tables.pop("labelled"), tables.pop("unrelated")
            language, titles = arrays["trust"].tolist()
            return PairSides(labelled, arrays["labels"], unrelated, (language, titles), tables)

    def write(self, path: Path) -> None:
        """Write as .npz."""
        tables = {"labelled": self.labelled, "unrelated": self.unrelated, **self.lone}
        flat = {
            f"{table}/{name}": values.astype(np.float32)
            for table, sides in tables.items()
            for name, values in sides.items()
        }
        arrays: dict[str, Any] = {"labels": self.labels, "trust": np.array(self.trust), **flat}
        np.savez_compressed(path, **arrays)


def pair_sides(
    corpus: Corpus, scorer: SideScorer, split: Split, known: HybridMatcher, sources: int | None = None, seed: int = 0
) -> PairSides:
    """The pairs of a split, or those of `sources` sources drawn at random.

    Of a set without pairs they are its queries and their answers. `known` is a matcher whose background has this kind
    of text, where the scorer's does not.
    """
    rng = random.Random(seed)
    named_pairs = [(pair.source, pair.target, pair.label) for pair in corpus.folder.pairs(split)]
    if not named_pairs:
        qrels = corpus.folder.qrels(split).items()
        named_pairs = [(query, answer, int(grade > 0)) for query, found in qrels for answer, grade in found.items()]
    targets: dict[int, dict[int, int]] = {}
    for source, target, label in named_pairs:
        targets.setdefault(corpus.number[source], {})[corpus.number[target]] = label
    usable = sorted(set(targets) - set(scorer.unhandled))
    chosen = usable if sources is None else sorted(rng.sample(usable, min(sources, len(usable))))
    labels: list[int] = []
    labelled: list[SideValues] = []
    unrelated: list[SideValues] = []
    lone: dict[str, list[tuple[int, int]]] = {"related": [], "random": []}
    for number, sides in scorer.each(chosen):
        named = {target: label for target, label in targets[number].items() if target not in scorer.unhandled}
        labels += named.values()
        sides["query"] = np.full(len(corpus), sides["lengths"][number])
        labelled.append({name: values[list(named)] for name, values in sides.items()})
        drawn = set(rng.sample(range(len(corpus)), min(UNRELATED, len(corpus))))
        others = sorted(drawn - {number} - set(targets[number]) - set(scorer.unhandled))
        unrelated.append({name: values[others] for name, values in sides.items()})
        lone["related"] += [(number, target) for target, label in named.items() if label]
        lone["random"] += [(number, other) for other in others]
    alone = {
        f"{knowledge} {name}": lone_sides(rng.sample(pairs, min(LONE, len(pairs))), scorer, matcher)
        for knowledge, matcher in (("known", known), ("unknown", scorer.matcher))
        for name, pairs in lone.items()
    }
    flat = _concatenate(labelled), np.array(labels, dtype=bool), _concatenate(unrelated)
    return PairSides(*flat, scorer.candidates.rarity.trust, alone)


def lone_sides(pairs: Sequence[tuple[int, int]], scorer: SideScorer, matcher: HybridMatcher) -> SideValues:
    """The sides of pairs by themselves, their numbers of words, and how far their wording and their kind are known."""
    rows = []
    for numbers in pairs:
        a, b = map(scorer.encoding, numbers)
        rarity = Rarity.of([a, b], matcher.statistics)
        sides = Collection([b], rarity).similarities(a, PASSAGE_SIDES)
        known = known_of([a, b], matcher.statistics)
        rows.append([*(float(x[0]) for x in sides.values()), a.words, b.words, known.wording, known.kind])
    columns = (*PASSAGE_SIDES, "query", "lengths", "knowledge", "kind_known")
    return dict(zip(columns, np.array(rows, dtype=np.float64).reshape(-1, len(columns)).T, strict=True))


def _concatenate(parts: Sequence[SideValues]) -> SideValues:
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def write_features(
    matcher_without: Callable[[str | None], HybridMatcher],
    data: Path,
    folder: Path,
    sets: Sequence[str],
    splits: Sequence[Split],
    layers: Path,
    queries: int | None = None,
    sources: int | None = None,
) -> None:
    """Write SET-SPLIT.npz where a set has queries, and SET-SPLIT-pairs.npz.

    `matcher_without` gives the matcher whose background lacks a kind of text: the pairs of every set are seen as
    documents of a kind that the default does not know. `queries` limits the training queries of a set, `sources` the
    sources of pairs.
    """
    for name in sets:
        corpus = Corpus(DataFolder(data / name))
        scorer = open_scorer(matcher_without(None), corpus, layers)
        for split in splits:
            if corpus.folder.judgements(split):
                lists = query_lists(corpus, scorer, split, queries if split == "train" else None)
                lists.write(folder / f"{name}-{split}.npz")
                print(f"{name} {split}: {len(lists)} queries", flush=True)
        scorer = open_scorer(matcher_without(name), corpus, layers)
        for split in splits:
            if corpus.folder.pairs(split) or corpus.folder.judgements(split):
                pairs = pair_sides(corpus, scorer, split, matcher_without(None), sources)
                pairs.write(folder / f"{name}-{split}-pairs.npz")
                print(f"{name} {split}: {len(pairs.labels)} pairs", flush=True)


def read_lists(folder: Path, split: Split) -> dict[str, QueryLists]:
    """The lists of a split by set."""
    return {name: QueryLists.read(path) for name, path in _files(folder, f"-{split}.npz")}


def read_pairs(folder: Path, split: Split) -> dict[str, PairSides]:
    """The pairs of a split by set."""
    return {name: PairSides.read(path) for name, path in _files(folder, f"-{split}-pairs.npz")}


def _files(folder: Path, ending: str) -> list[tuple[str, Path]]:
    return [(path.name.removesuffix(ending), path) for path in sorted(folder.glob(f"*{ending}"))]
