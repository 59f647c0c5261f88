"""What a second look gains on each set's test queries, trained on the other sets or on all of them."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from longmatch.default.sides import NAMES
from longmatch.errors import LongmatchError
from longmatch.lab.datasets.records import Split
from longmatch.lab.evaluation.measures.query_result import Floats, Ints
from longmatch.lab.evaluation.significance import Comparison, compare_queries
from longmatch.lab.reranking.candidates import EVIDENCE, LENGTHS, CandidateLists
from longmatch.lab.reranking.rerankers import BestDocuments, averaged_ranks, choose_regression, fit_boosting

DEPTHS = (20, 40, 100)
ADDED = "added-"
ON_ALL = ", trained on all sets"
Fit = Callable[[Sequence[BestDocuments]], Callable[[BestDocuments], Tensor]]
LEARNT: Mapping[str, tuple[Fit, Sequence[str]]] = {
    "regression on the sides": (choose_regression, (*NAMES, *LENGTHS)),
    "regression, passages too": (choose_regression, EVIDENCE),
    "boosting, passages too": (fit_boosting, EVIDENCE),
}


def read_lists(folder: Path, split: str) -> dict[str, CandidateLists]:
    """The lists of a split by set."""
    ending = f"-{split}.npz"
    return {path.name.removesuffix(ending): CandidateLists.read(path) for path in sorted(folder.glob(f"*{ending}"))}


def study(
    folder: Path, depth: int, split: Split = "test", weights: Sequence[float] = ()
) -> dict[str, dict[str, Comparison]]:
    """By set and row, the difference from the default's nDCG@10; the row `default` has that itself.

    weights: what a network adds to the default's score is also added times each of these.
    """
    train, test = read_lists(folder, "train"), read_lists(folder, split)
    names = [name for name in test if name in train]
    if len(names) < 2:
        raise LongmatchError(f"{folder} holds the lists of fewer than two sets. Make those first: lists DATA {folder}.")
    tested = {name: BestDocuments.of(test[name], depth) for name in names}
    plain = {name: best.ndcg(best.scores) for name, best in tested.items()}
    result: dict[str, dict[str, Comparison]] = {
        name: {"default": Comparison(float(each.mean()), 1.0)} for name, each in plain.items()
    }
    for row, (fit, kinds) in LEARNT.items():
        training = {name: BestDocuments.of(train[name], depth, kinds) for name in names}
        everywhere = fit(list(training.values()))
        for name in names:
            here = BestDocuments.of(test[name], depth, kinds)
            elsewhere = fit([each for other, each in training.items() if other != name])
            result[name][row] = compare_queries(here.ndcg(elsewhere(here)), plain[name])
            result[name][f"{row}{ON_ALL}"] = compare_queries(here.ndcg(everywhere(here)), plain[name])
    for name in names:
        best = tested[name]
        for label, values in stored_scores(folder, f"{name}-{split}").items():
            for row, scores in _orders(best, test[name].padded(depth), values, label, weights):
                result[name][row] = compare_queries(best.ndcg(scores), plain[name])
        ideal = best.ndcg(torch.from_numpy(best.grades).float())
        result[name]["ideal order"] = compare_queries(ideal, plain[name])
    return result


def stored_scores(folder: Path, name: str) -> dict[str, Floats]:
    """By label, the scores of the candidates of SET-SPLIT: FOLDER/scores/LABEL/SET-SPLIT.npy.

    Labels that begin with ADDED are what a network adds to the default's score.
    """
    paths = sorted((folder / "scores").glob(f"*/{name}.npy"))
    return {path.parent.name: np.load(path).astype(np.float64) for path in paths}


def _orders(
    best: BestDocuments, places: Ints, values: Floats, label: str, weights: Sequence[float]
) -> list[tuple[str, Tensor]]:
    """By a model's scores, by the mean of its ranks and the default's, and with a share of what it adds to that."""
    first, own = best.scores.double(), torch.from_numpy(np.where(places >= 0, values[places], -np.inf))
    if not label.startswith(ADDED):
        return [(f"{label} alone", own), (f"{label} and default", averaged_ranks(own, first))]
    label, added = label.removeprefix(ADDED), own
    own, *weighted = (torch.where(best.listed, first + weight * added, first) for weight in (1, *weights))
    lighter = [(f"default + {weight:g} {label}", order) for weight, order in zip(weights, weighted, strict=True)]
    return [(f"{label} alone", own), (f"{label} and default", averaged_ranks(own, first)), *lighter]


def table(result: Mapping[str, Mapping[str, Comparison]], depth: int) -> str:
    """As Markdown; rows that some sets lack have empty cells there."""
    rows = dict.fromkeys(row for of_set in result.values() for row in of_set)
    lines = [f"| best {depth} | {' | '.join(result)} |", f"|---|{'---:|' * len(result)}"]
    for row in rows:
        cells = [_cell(of_set.get(row), row == "default") for of_set in result.values()]
        lines.append(f"| {row} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _cell(comparison: Comparison | None, absolute: bool) -> str:
    if comparison is None:
        return ""
    value = 100 * comparison.difference
    return f"{value:.1f}" if absolute else f"{value:+.1f} ({comparison.p:.4f})"
