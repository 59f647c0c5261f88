"""What the default learns from: the sides of each query's best documents, and of labelled and unrelated pairs."""

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from longmatch.default.calibration import Calibration, Scale
from longmatch.default.matcher import HybridMatcher
from longmatch.default.sides import NAMES, SIDES
from longmatch.lab.datasets.collection import DataFolder
from longmatch.lab.datasets.records import Split
from longmatch.lab.evaluation.corpus import Corpus
from longmatch.lab.evaluation.measures.query_result import Floats
from longmatch.lab.evaluation.protocols import EvaluationTask
from longmatch.lab.evaluation.scoring.default import DefaultScorer
from longmatch.lab.store.store import LayerStore

FLOORS = {side.name: side.floor for side in SIDES}
PASSAGE_SIDES = tuple(side.name for side in SIDES if side.explained_by != "document")  # words, phrases, meaning
FINDERS = tuple(side.name for side in SIDES if not side.needs_titles)  # their best documents make up a query's list
BEST = 60  # documents of each finder in a query's list
DEPTH = 10  # of nDCG
UNRELATED = 20  # documents drawn at random for each source of pairs
QUERIES_AT_ONCE = 16

SideValues = dict[str, Floats]


class SideScorer(DefaultScorer):
    """The similarities of queries with every document on all sides, whatever they weigh today."""

    sides = NAMES

    @property
    def trust(self) -> Floats:
        """How far each side is trusted in this corpus."""
        even = Calibration({name: Scale(1.0, 1.0, 0.0) for name in NAMES}, 1.0, 0.0)
        trusted = even.trusting(*self._rarity.trust)
        return np.array([trusted.scales[name].weight for name in NAMES])

    def each(self, numbers: Sequence[int]) -> Iterator[tuple[int, SideValues]]:
        """For the documents of these numbers, the value with every document of the corpus by side.

        `lengths` are the documents' numbers of words.
        """
        usable = [number for number in numbers if number not in self.unhandled]
        for start in range(0, len(usable), QUERIES_AT_ONCE):
            block = usable[start : start + QUERIES_AT_ONCE]
            queries = [self._query(number) for number in block]
            slices: list[list[SideValues]] = [[] for _ in block]
            for index in range(len(self._slices)):
                collection = self._collection(index)
                lengths = np.array([e.words for e in collection.encodings], dtype=np.float64)
                for query, parts in zip(queries, slices, strict=True):
                    parts.append({**collection.similarities(query, NAMES), "lengths": lengths})
            for number, parts in zip(block, slices, strict=True):
                yield number, _concatenate(parts)


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
    offsets = np.concatenate([[0], np.cumsum([len(part) for part in parts])]).astype(np.int64)
    flat = np.concatenate(parts), np.concatenate(grades), offsets, np.stack(wanted), np.concatenate(lengths)
    return QueryLists(*flat, scorer.trust.astype(np.float32))


@dataclass(frozen=True)
class PairSides:
    """A set's labelled pairs by side, and pairs drawn at random that no label names."""

    labelled: SideValues
    labels: npt.NDArray[np.bool_]
    unrelated: SideValues

    @staticmethod
    def read(path: Path) -> "PairSides":
        """Read what `write` wrote."""
        with np.load(path) as arrays:
            names = arrays["names"].tolist()
            labelled, unrelated = (
                dict(zip(names, arrays[kind].astype(np.float64), strict=True)) for kind in ("labelled", "unrelated")
            )
            return PairSides(labelled, arrays["labels"], unrelated)

    def write(self, path: Path) -> None:
        """Write as .npz."""
        names = np.array(list(self.labelled))
        labelled, unrelated = (
            np.stack(list(values.values())).astype(np.float32) for values in (self.labelled, self.unrelated)
        )
        np.savez_compressed(path, names=names, labels=self.labels, labelled=labelled, unrelated=unrelated)


def pair_sides(
    corpus: Corpus, scorer: SideScorer, split: Split, sources: int | None = None, seed: int = 0
) -> PairSides:
    """The pairs of a split, or those of `sources` sources drawn at random."""
    rng = random.Random(seed)
    targets: dict[int, dict[int, int]] = {}
    for pair in corpus.folder.pairs(split):
        targets.setdefault(corpus.number[pair.source], {})[corpus.number[pair.target]] = pair.label
    usable = sorted(set(targets) - set(scorer.unhandled))
    chosen = usable if sources is None else sorted(rng.sample(usable, min(sources, len(usable))))
    labels: list[int] = []
    labelled: list[SideValues] = []
    unrelated: list[SideValues] = []
    for number, sides in scorer.each(chosen):
        named = {target: label for target, label in targets[number].items() if target not in scorer.unhandled}
        labels += named.values()
        sides["query"] = np.full(len(corpus), sides["lengths"][number])
        labelled.append(_at(sides, list(named)))
        drawn = set(rng.sample(range(len(corpus)), min(UNRELATED, len(corpus))))
        unrelated.append(_at(sides, sorted(drawn - {number} - set(targets[number]) - set(scorer.unhandled))))
    return PairSides(_concatenate(labelled), np.array(labels, dtype=bool), _concatenate(unrelated))


def _at(sides: Mapping[str, Floats], numbers: Sequence[int]) -> SideValues:
    return {name: values[numbers] for name, values in sides.items()}


def _concatenate(parts: Sequence[SideValues]) -> SideValues:
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def write_features(
    matcher: HybridMatcher,
    data: Path,
    folder: Path,
    sets: Sequence[str],
    splits: Sequence[Split],
    layers: Path,
    queries: int | None = None,
    sources: int | None = None,
) -> None:
    """Write SET-SPLIT.npz where a set has queries, and SET-SPLIT-pairs.npz where it has pairs.

    `queries` limits the training queries of a set, `sources` the sources of pairs of a split.
    """
    for name in sets:
        corpus = Corpus(DataFolder(data / name))
        scorer = open_scorer(matcher, corpus, layers)
        for split in splits:
            if corpus.folder.judgements(split):
                lists = query_lists(corpus, scorer, split, queries if split == "train" else None)
                lists.write(folder / f"{name}-{split}.npz")
                print(f"{name} {split}: {len(lists)} queries", flush=True)
            if corpus.folder.pairs(split):
                pairs = pair_sides(corpus, scorer, split, sources)
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
