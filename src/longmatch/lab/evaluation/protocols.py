"""The two protocols: rank a collection for each query, and classify labelled pairs.

A document that a model cannot handle scores lowest: it ranks last, and its pairs are never predicted to match. A query
that cannot be handled finds nothing. Both are counted, none is dropped.
"""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, get_args

import numpy as np

from longmatch.lab.datasets.collection import DataFolder
from longmatch.lab.datasets.records import Pair, Split
from longmatch.lab.evaluation.corpus import Corpus
from longmatch.lab.evaluation.measures import (
    Floats,
    Measure,
    PairPredictions,
    QueryResult,
    RankingMeasure,
    best_threshold,
    find_ranks,
)
from longmatch.lab.evaluation.scoring.pairs import PairScorer
from longmatch.lab.evaluation.scoring.scorer import Scorer
from longmatch.matching.matcher import Progress

Protocol = Literal["auto", "ranking", "pairs", "both"]
PROTOCOLS: tuple[Protocol, ...] = get_args(Protocol)


@dataclass(frozen=True)
class ActiveProtocols:
    """Which of the two protocols a set is evaluated with."""

    ranking: bool
    pairs: bool

    @staticmethod
    def of(
        folder: DataFolder, split: Split, protocol: Protocol, measures: Sequence[Measure] | None
    ) -> "ActiveProtocols":
        """Those requested that the split has labels for.

        `auto` ranks; it classifies pairs where the set has no queries, or where `measures` include one of pairs.
        """
        ranking, pairs = bool(folder.judgements(split)), bool(folder.pairs(split))
        if measures is not None:
            ranking = ranking and any(isinstance(measure, RankingMeasure) for measure in measures)
            pairs = pairs and any(not isinstance(measure, RankingMeasure) for measure in measures)
        elif protocol == "auto":
            pairs = pairs and not ranking
        return ActiveProtocols(ranking and protocol != "pairs", pairs and protocol != "ranking")

    def __bool__(self) -> bool:
        return self.ranking or self.pairs


@dataclass(frozen=True)
class EvaluationTask:
    """The labels to evaluate on: queries to rank for, pairs to classify, and pairs to tune the threshold on."""

    qrels: Mapping[str, Mapping[str, int]]
    pairs: Sequence[Pair] = ()
    validation: Sequence[Pair] = ()

    @staticmethod
    def of(
        corpus: Corpus, split: Split, ranking: bool = True, pairs: bool = True, limit: int | None = None, seed: int = 0
    ) -> "EvaluationTask":
        """The labels of a split; `limit` samples that many queries (or sources of pairs).

        The threshold is tuned on the validation pairs or, for a set without any, on the training pairs.
        """
        folder = corpus.folder
        qrels = folder.qrels(split) if ranking else {}
        labelled = folder.pairs(split) if pairs else []
        queries = _sample(sorted(qrels), limit, seed)
        sources = set(_sample(sorted({pair.source for pair in labelled}), limit, seed))
        validation: Sequence[Pair] = ()
        if labelled:
            others = (folder.pairs(other) for other in ("validation", "train") if other != split)
            validation = next(filter(None, others), ())
        return EvaluationTask(
            {q: {d: g for d, g in qrels[q].items() if d != q} for q in queries},  # a query is never its own result
            [pair for pair in labelled if pair.source in sources],
            validation,
        )

    def steps(self, corpus: Corpus, scorer: Scorer) -> int:
        """The progress steps of `score_task`: one per document scored with the collection, or per query and source."""
        if not isinstance(scorer, PairScorer):
            return len(self.numbers(corpus))
        return len(self.qrels) + len({pair.source for pair in [*self.pairs, *self.validation]})

    def numbers(self, corpus: Corpus) -> list[int]:
        """The documents whose scores with the collection are needed."""
        sources = [*self.qrels, *(pair.source for pair in [*self.pairs, *self.validation])]
        return sorted({corpus.number[id] for id in sources})


@dataclass
class TaskOutcome:
    """A model's results: the ranks of each query's relevant documents, and the score of each pair."""

    answers: dict[str, QueryResult] = field(default_factory=dict)
    pairs: list[float] = field(default_factory=list)
    validation: list[float] = field(default_factory=list)

    def predictions(self, task: EvaluationTask) -> PairPredictions:
        """The pairs, with the threshold that is best on the validation pairs."""
        threshold = None
        if task.validation:
            threshold = best_threshold(_labels(task.validation), np.array(self.validation))
        return PairPredictions(_labels(task.pairs), np.array(self.pairs), threshold)


def score_task(task: EvaluationTask, corpus: Corpus, scorer: Scorer, progress: Progress | None = None) -> TaskOutcome:
    """Score every query and source with the collection once, and keep what the protocols need."""
    outcome = TaskOutcome({q: QueryResult.empty(grades) for q, grades in task.qrels.items()})
    pair_scores: dict[tuple[str, str], float] = {}
    targets: dict[str, list[str]] = {}
    for pair in [*task.pairs, *task.validation]:
        targets.setdefault(pair.source, []).append(pair.target)
    numbers, number = task.numbers(corpus), corpus.number
    if isinstance(scorer, PairScorer):  # it scores only the pairs given, so rankings do not include them
        asked = {number[source]: [number[other] for other in others] for source, others in targets.items()}
        for source, found in scorer.of_pairs(asked):
            id = corpus.ids[source]
            pair_scores |= {(id, other): score for other, score in zip(targets[id], found, strict=True)}
            if progress:
                progress(1)
        numbers, targets = [number[query] for query in sorted(task.qrels)], {}
    for source, scores in scorer.scores(numbers):
        id = corpus.ids[source]
        if scores is not None:
            if id in task.qrels:
                outcome.answers[id] = rank_pool(corpus, id, task.qrels[id], scores)
            pair_scores |= {(id, other): scores[number[other]] for other in targets.get(id, ())}
        if progress:
            progress(1)
    pair_scores = {pair: -np.inf if np.isnan(score) else float(score) for pair, score in pair_scores.items()}
    outcome.pairs = [pair_scores.get((pair.source, pair.target), -np.inf) for pair in task.pairs]
    outcome.validation = [pair_scores.get((pair.source, pair.target), -np.inf) for pair in task.validation]
    return outcome


def rank_pool(corpus: Corpus, query: str, grades: Mapping[str, int], scores: Floats) -> QueryResult:
    """Rank the query's pool; a relevant document outside the pool counts as not found."""
    pool = np.array([corpus.number[id] for id in corpus.folder.pool(query)], dtype=np.int64)
    place = {int(number): i for i, number in enumerate(pool)}
    inside = [(place[corpus.number[id]], grade) for id, grade in grades.items() if corpus.number[id] in place]
    return find_ranks(scores[pool], corpus.order[pool], [p for p, _ in inside], [g for _, g in inside], grades)


def _labels(pairs: Sequence[Pair]) -> "np.typing.NDArray[np.bool_]":
    return np.array([pair.label == 1 for pair in pairs], dtype=bool)


def _sample(ids: list[str], limit: int | None, seed: int) -> list[str]:
    return ids if limit is None or limit >= len(ids) else sorted(random.Random(seed).sample(ids, limit))
