"""The two protocols: rank a collection for each query, and classify labelled pairs.

A document that a model cannot handle scores lowest: it ranks last, and its pairs are never said to belong together. A
query that cannot be handled finds nothing. Both are counted, none is dropped.
"""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

import numpy as np

from longmatch.lab.datasets.collection import DataFolder
from longmatch.lab.datasets.records import Pair, Split
from longmatch.lab.evaluation.corpus import Corpus
from longmatch.lab.evaluation.measures import Answers, Measure, RankingMeasure, Verdicts, best_threshold
from longmatch.lab.evaluation.measures.answers import Floats, locate
from longmatch.lab.evaluation.scoring.pairs import PairScorer
from longmatch.lab.evaluation.scoring.scorer import Scorer
from longmatch.matching.matcher import Progress

Protocol = Literal["auto", "ranking", "pairs", "both"]
PROTOCOLS: tuple[Protocol, ...] = get_args(Protocol)


@dataclass(frozen=True)
class Wanted:
    """Which of the two protocols a set is measured by."""

    ranking: bool
    pairs: bool

    @staticmethod
    def of(folder: DataFolder, split: Split, protocol: Protocol, measures: Sequence[Measure] | None) -> "Wanted":
        """What is asked for and can be had: `auto` ranks, and classifies pairs where they are all there is or where a
        measure of pairs is asked for.
        """
        ranking, pairs = bool(folder.judgements(split)), bool(folder.pairs(split))
        if measures is not None:
            ranking = ranking and any(isinstance(measure, RankingMeasure) for measure in measures)
            pairs = pairs and any(not isinstance(measure, RankingMeasure) for measure in measures)
        elif protocol == "auto":
            pairs = pairs and not ranking
        return Wanted(ranking and protocol != "pairs", pairs and protocol != "ranking")


@dataclass(frozen=True)
class Task:
    """What is asked of every model: queries to rank for, pairs to classify, pairs to choose the threshold on."""

    qrels: Mapping[str, Mapping[str, int]]
    pairs: Sequence[Pair] = ()
    validation: Sequence[Pair] = ()

    @staticmethod
    def of(
        corpus: Corpus, split: Split, ranking: bool = True, pairs: bool = True, limit: int | None = None, seed: int = 0
    ) -> "Task":
        """The labels of a split. `limit` takes so many queries (or sources of pairs) at random.

        The threshold is chosen on the validation pairs, for a set without them on the training pairs.
        """
        folder = corpus.folder
        qrels = folder.qrels(split) if ranking else {}
        labelled = folder.pairs(split) if pairs else []
        kept = _sample(sorted(qrels), limit, seed)
        sources = _sample(sorted({pair.source for pair in labelled}), limit, seed)
        chosen: Sequence[Pair] = ()
        if labelled:
            chosen = next((found for s in ("validation", "train") if s != split and (found := folder.pairs(s))), ())
        return Task(
            {q: {d: g for d, g in qrels[q].items() if d != q} for q in kept},  # no query is an answer to itself
            [pair for pair in labelled if pair.source in set(sources)],
            chosen,
        )

    def steps(self, corpus: Corpus, scorer: Scorer) -> int:
        """How often `run` tells of progress: once a document that is asked about, or once for each way of asking."""
        if not isinstance(scorer, PairScorer):
            return len(self.numbers(corpus))
        return len(self.qrels) + len({pair.source for pair in [*self.pairs, *self.validation]})

    def numbers(self, corpus: Corpus) -> list[int]:
        """The documents whose scores with the collection are needed."""
        sources = [*self.qrels, *(pair.source for pair in [*self.pairs, *self.validation])]
        return sorted({corpus.number[id] for id in sources})


@dataclass
class Outcome:
    """What a model answered: where each query's true answers stand, and the score of each pair."""

    answers: dict[str, Answers] = field(default_factory=dict)
    pairs: list[float] = field(default_factory=list)
    validation: list[float] = field(default_factory=list)

    def verdicts(self, task: Task) -> Verdicts:
        """The pairs at the threshold that is best on the validation pairs."""
        threshold = None
        if task.validation:
            threshold = best_threshold(_labels(task.validation), np.array(self.validation))
        return Verdicts(_labels(task.pairs), np.array(self.pairs), threshold)


def run(task: Task, corpus: Corpus, scorer: Scorer, progress: Progress | None = None) -> Outcome:
    """Score every query and source with the collection once, and keep what the protocols need of it."""
    outcome = Outcome({q: Answers.missing(grades) for q, grades in task.qrels.items()})
    known: dict[tuple[str, str], float] = {}
    targets: dict[str, list[str]] = {}
    for pair in [*task.pairs, *task.validation]:
        targets.setdefault(pair.source, []).append(pair.target)
    numbers = task.numbers(corpus)
    if isinstance(scorer, PairScorer):  # it scores no more than it is asked about, and a ranking knows of no pairs
        known = _pair_by_pair(targets, corpus, scorer, progress)
        numbers, targets = _numbers(corpus, sorted(task.qrels)), {}
    for number, scores in scorer.scores(numbers):
        id = corpus.ids[number]
        if scores is not None:
            if id in task.qrels:
                outcome.answers[id] = answers_of(corpus, id, task.qrels[id], scores)
            known.update({(id, target): _number(scores[corpus.number[target]]) for target in targets.get(id, ())})
        if progress:
            progress(1)
    outcome.pairs = [known.get((pair.source, pair.target), -np.inf) for pair in task.pairs]
    outcome.validation = [known.get((pair.source, pair.target), -np.inf) for pair in task.validation]
    return outcome


def _pair_by_pair(
    targets: Mapping[str, Sequence[str]],
    corpus: Corpus,
    scorer: PairScorer,
    progress: Progress | None,
) -> dict[tuple[str, str], float]:
    """The scores of the pairs alone; `progress` is told of sources."""
    known: dict[tuple[str, str], float] = {}
    asked = {corpus.number[source]: _numbers(corpus, others) for source, others in targets.items()}
    for number, found in scorer.of_pairs(asked):
        id = corpus.ids[number]
        known.update({(id, target): _number(score) for target, score in zip(targets[id], found, strict=True)})
        if progress:
            progress(1)
    return known


def answers_of(corpus: Corpus, query: str, grades: Mapping[str, int], scores: Floats) -> Answers:
    """Rank the query's pool; an answer outside the pool counts as not found."""
    pool = np.array([corpus.number[id] for id in corpus.folder.pool(query)], dtype=np.int64)
    place = {int(number): i for i, number in enumerate(pool)}
    found = [(place[corpus.number[id]], grade) for id, grade in grades.items() if corpus.number[id] in place]
    return locate(scores[pool], corpus.order[pool], [p for p, _ in found], [g for _, g in found], grades)


def _numbers(corpus: Corpus, ids: Sequence[str]) -> list[int]:
    return [corpus.number[id] for id in ids]


def _number(value: Any) -> float:
    return -np.inf if np.isnan(value) else float(value)


def _labels(pairs: Sequence[Pair]) -> "np.typing.NDArray[np.bool_]":
    return np.array([pair.label == 1 for pair in pairs], dtype=bool)


def _sample(ids: list[str], limit: int | None, seed: int) -> list[str]:
    return ids if limit is None or limit >= len(ids) else sorted(random.Random(seed).sample(ids, limit))
