"""Whether a second look at the default's best documents would improve their order.

    longmatch train default --data DATA --out OUT --step features,weights
    python -m longmatch.lab.default.reranking OUT [--depths 20 40 100]

The default's best documents of a query are ordered again by a model that sees all evidence the default has: every side,
the place and the rank by each side, the lengths. It starts as the default's own order, is learnt from the training
queries of all sets but one, and is judged on the test queries of that one. `regression` is linear; `boosting` adds
trees one by one, and shows what a model that is not linear could gain. `taught` has learnt from the set itself too.
How strongly the regression is held to its start is chosen on the training queries of the other sets, each left out.
"""

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from longmatch.default.sides import NAMES
from longmatch.errors import LongmatchError
from longmatch.lab.default.features import DEPTH, QueryLists, read_lists
from longmatch.lab.default.weights import log_sides, read_weights
from longmatch.lab.evaluation.measures.query_result import QueryResult
from longmatch.lab.evaluation.measures.ranking import nDCG
from longmatch.lab.evaluation.significance import Comparison, compare_queries
from longmatch.lab.losses.listwise import listwise_loss

DEPTHS = (20, 40, 100)
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
    def of(lists: QueryLists, weights: Floats, depth: int) -> "BestDocuments":
        """By the default's weights of the sides."""
        logs = log_sides(lists, NAMES).astype(np.float64)
        scores = logs @ weights
        places = np.full((len(lists), depth), -1)
        for query, (start, end) in enumerate(pairwise(lists.offsets.tolist())):
            best = start + np.argsort(-scores[start:end], kind="stable")[:depth]
            places[query, : len(best)] = best
        listed = places >= 0
        evidence = _evidence(logs[places], np.log(np.maximum(lists.lengths[places], 1)), listed)
        return BestDocuments(
            torch.from_numpy(evidence.astype(np.float32)),
            torch.from_numpy(np.where(listed, scores[places], FAR_BELOW).astype(np.float32)),
            np.where(listed, lists.grades[places], 0),
            torch.from_numpy(listed),
            lists.wanted,
        )

    @property
    def answers(self) -> Tensor:
        """Which documents are relevant: (queries, depth)."""
        return torch.from_numpy(self.grades > 0)

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


def _evidence(logs: Floats, lengths: Floats, listed: npt.NDArray[np.bool_]) -> Floats:
    """Sides, ranks by each side, place and lengths, as differences from their mean: (queries, depth, kinds)."""
    ranks = np.where(listed[..., None], -logs, np.inf).argsort(1, kind="stable").argsort(1, kind="stable")
    place = np.broadcast_to(np.arange(listed.shape[1]), listed.shape)
    shorter = np.minimum(lengths[..., 1] - lengths[..., 0], 0)
    kinds = np.concatenate(
        [logs, -np.log1p(ranks), np.stack([-np.log1p(place), lengths[..., 1], shorter], axis=-1)], axis=-1
    )
    taken = listed[..., None]
    return np.asarray((kinds - (kinds * taken).sum(1, keepdims=True) / taken.sum(1, keepdims=True)) * taken)


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


def compare(best: BestDocuments, reranker: Reranker) -> Comparison:
    """A reranked order with the default's own, query by query."""
    return compare_queries(best.ndcg(reranker(best)), best.ndcg(best.scores))


def study(folder: Path, depth: int) -> dict[str, dict[str, Comparison]]:
    """What each reranker gains on the test queries of each set, taught without and with it; and the upper limit."""
    train, test = read_lists(folder, "train"), read_lists(folder, "test")
    names = sorted(set(train) & set(test))
    if len(names) < 2:
        raise LongmatchError(f"{folder} holds the features of fewer than two sets. Run longmatch train default first.")
    scales = read_weights(folder)
    weights = np.array([scales[name].weight if name in scales else 0.0 for name in NAMES])
    taught = {name: BestDocuments.of(train[name], weights, depth) for name in names}
    regression, boosting = choose_regression(list(taught.values())), fit_boosting(list(taught.values()))
    result: dict[str, dict[str, Comparison]] = {}
    for name in names:
        judged, others = BestDocuments.of(test[name], weights, depth), [taught[n] for n in names if n != name]
        result[name] = {
            "default": Comparison(float(judged.ndcg(judged.scores).mean()), 1.0),
            "regression": compare(judged, choose_regression(others)),
            "boosting": compare(judged, fit_boosting(others)),
            "regression, taught": compare(judged, regression),
            "boosting, taught": compare(judged, boosting),
            "perfect order": compare(judged, lambda best: torch.from_numpy(best.grades).float()),
        }
    return result


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a table for each depth."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="what `longmatch train default` wrote")
    parser.add_argument("--depths", nargs="+", type=int, default=list(DEPTHS))
    options = parser.parse_args(arguments)
    for depth in options.depths:
        result = study(options.folder, depth)
        print(f"| best {depth} | {' | '.join(result)} |")
        print(f"|---|{'---:|' * len(result)}")
        for row in next(iter(result.values())):
            cells = [_cell(result[name][row], row == "default") for name in result]
            print(f"| {row} | {' | '.join(cells)} |")
        print(flush=True)


def _cell(comparison: Comparison, absolute: bool) -> str:
    value = 100 * comparison.difference
    return f"{value:.1f}" if absolute else f"{value:+.1f} ({comparison.p:.4f})"


if __name__ == "__main__":
    main()
