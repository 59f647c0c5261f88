"""Models that order the default's best documents again, from the evidence of each; they start as its own order.

`regression` is linear, `boosting` adds regression trees one by one. Both learn by the listwise loss that the default's
own weights were learnt by.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from longmatch.lab.default.features import DEPTH
from longmatch.lab.evaluation.measures.query_result import QueryResult
from longmatch.lab.evaluation.measures.ranking import nDCG
from longmatch.lab.losses.listwise import listwise_loss
from longmatch.lab.reranking.candidates import EVIDENCE, CandidateLists
from longmatch.matching.reranking import average_ranks

PENALTIES = (1e-3, 1e-2, 1e-1, 1.0)  # on the squared weights of the regression
TREES, LEAVES, RATE, LEAST = 30, 8, 0.1, 200  # of boosting; LEAST documents in a leaf
FAR_BELOW = -1e4  # the score of a place that no document takes

Floats = npt.NDArray[np.float64]
Reranker = Callable[["BestDocuments"], Tensor]


@dataclass(frozen=True)
class BestDocuments:
    """The default's best documents of each query, best first; shorter lists are filled up."""

    evidence: Tensor  # (queries, depth, kinds), the mean over a query's documents subtracted
    scores: Tensor  # by the default: (queries, depth)
    grades: npt.NDArray[np.int64]  # (queries, depth)
    listed: Tensor  # which places are taken: (queries, depth)
    wanted: npt.NDArray[np.int64]  # the best grades there are: (queries, DEPTH), falling

    @staticmethod
    def of(lists: CandidateLists, depth: int, kinds: Sequence[str] = EVIDENCE) -> "BestDocuments":
        """The first of each list, with some kinds of evidence."""
        columns = lists.evidence[:, [EVIDENCE.index(kind) for kind in kinds]].astype(np.float64)
        places = lists.padded(depth)
        listed = places >= 0
        return BestDocuments(
            torch.from_numpy(_with_ranks(columns[places], listed).astype(np.float32)),
            torch.from_numpy(np.where(listed, lists.scores[places], FAR_BELOW).astype(np.float32)),
            np.where(listed, lists.grades[places], 0),
            torch.from_numpy(listed),
            lists.wanted,
        )

    @property
    def answers(self) -> Tensor:
        """Which documents are relevant: (queries, depth)."""
        return torch.from_numpy(self.grades > 0)

    def can_teach(self, depth: int) -> npt.NDArray[np.bool_]:
        """Which queries have an answer and another document among their first `depth`: (queries,)."""
        answers, listed = self.grades[:, :depth] > 0, self.listed.numpy()[:, :depth]
        return np.asarray(answers.any(1) & (listed & ~answers).any(1))

    def loss(self, scores: Tensor) -> Tensor:
        """The listwise loss of some scores."""
        return listwise_loss(scores, self.answers, self.listed)

    def ndcg(self, scores: Tensor) -> Floats:
        """nDCG@10 of each query, ordered by some scores; documents below the depth stay where they are."""
        orders = np.argsort(-scores.numpy(), axis=1, kind="stable")
        results = []
        for grades, order, wanted in zip(self.grades, orders, self.wanted, strict=True):
            ordered = grades[order]
            found = np.flatnonzero(ordered)
            results.append(QueryResult(found + 1, ordered[found], wanted[wanted > 0], len(ordered)))
        return nDCG(DEPTH).each(results)


def _with_ranks(columns: Floats, listed: npt.NDArray[np.bool_]) -> Floats:
    """Evidence, the rank by each kind, and the place, as differences from their mean: (queries, depth, kinds)."""
    ranks = np.where(listed[..., None], -columns, np.inf).argsort(1, kind="stable").argsort(1, kind="stable")
    place = np.broadcast_to(np.arange(listed.shape[1])[:, None], (*listed.shape, 1))
    kinds = np.concatenate([columns, -np.log1p(ranks), -np.log1p(place)], axis=-1)
    taken = listed[..., None]
    kinds = np.where(taken, kinds, 0.0)
    return np.asarray((kinds - kinds.sum(1, keepdims=True) / taken.sum(1, keepdims=True)) * taken)


def averaged_ranks(one: npt.ArrayLike, other: npt.ArrayLike) -> Tensor:
    """The mean of the ranks by two scores, query by query, as `rank --combine` orders: (queries, depth)."""
    rows = zip(np.asarray(one, dtype=np.float64), np.asarray(other, dtype=np.float64), strict=True)
    return torch.from_numpy(np.stack([average_ranks(mine, theirs) for mine, theirs in rows]))


def fit_regression(sets: Sequence[BestDocuments], penalty: float, steps: int = 30) -> Reranker:
    """Weights of the evidence beside the default's own score, every set counting alike; they start at 0."""
    weights = torch.zeros(sets[0].evidence.shape[2], requires_grad=True)
    optimizer = torch.optim.LBFGS([weights], max_iter=steps, line_search_fn="strong_wolfe")

    def closure() -> Tensor:
        optimizer.zero_grad()
        losses = [best.loss(best.scores + best.evidence @ weights) for best in sets]
        loss = torch.stack(losses).mean() + penalty * weights.square().sum()
        loss.backward()  # type: ignore[no-untyped-call]
        return loss

    optimizer.step(closure)  # type: ignore[no-untyped-call]
    learnt = weights.detach()
    return lambda best: best.scores + best.evidence @ learnt


def choose_regression(sets: Sequence[BestDocuments]) -> Reranker:
    """With the penalty that is best where each of the sets is left out in turn."""

    def gain(penalty: float) -> float:
        rows = [
            best.ndcg(fit_regression([*sets[:number], *sets[number + 1 :]], penalty)(best)).mean()
            for number, best in enumerate(sets)
        ]
        return float(np.mean(rows))

    return fit_regression(sets, max(PENALTIES, key=gain) if len(sets) > 1 else PENALTIES[-1])


def fit_boosting(sets: Sequence[BestDocuments]) -> Reranker:
    """Regression trees on the gradient of the same loss, from the default's order on."""
    from sklearn.tree import DecisionTreeRegressor

    evidence = np.concatenate([best.evidence[best.listed].numpy() for best in sets])
    scores, trees = [best.scores.clone() for best in sets], []

    def add(tree: DecisionTreeRegressor, best: BestDocuments, scores: Tensor) -> None:
        scores[best.listed] += RATE * torch.from_numpy(tree.predict(best.evidence[best.listed].numpy())).float()

    for _ in range(TREES):
        slopes = []
        for best, current in zip(sets, scores, strict=True):
            attached = current.clone().requires_grad_()
            best.loss(attached).backward()  # type: ignore[no-untyped-call]
            assert attached.grad is not None
            slopes.append(-len(current) * attached.grad[best.listed].numpy())
        slope = np.concatenate(slopes)
        tree = DecisionTreeRegressor(max_leaf_nodes=LEAVES, min_samples_leaf=LEAST, random_state=0)
        trees.append(tree.fit(evidence, slope / slope.std()))
        for best, current in zip(sets, scores, strict=True):
            add(trees[-1], best, current)

    def reranked(best: BestDocuments) -> Tensor:
        result = best.scores.clone()
        for tree in trees:
            add(tree, best, result)
        return result

    return reranked
