"""Learn the weights of the default's sides from training queries, and measure what weights are worth."""

import json
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch

from longmatch.default.calibration import Scale, log_above_floor
from longmatch.default.sides import NAMES
from longmatch.errors import LongmatchError
from longmatch.lab.default.features import DEPTH, FLOORS, PASSAGE_SIDES, QueryLists, read_lists
from longmatch.lab.evaluation.measures import QueryResult, nDCG
from longmatch.lab.losses import listwise_loss

WEIGHTS = "weights.json"
WEIGHED = (*PASSAGE_SIDES, "title", "cites_title", "named")  # the sides that weigh in what ships
TIED = {"words": 0.2, "meaning": 0.45}  # shares of phrases' weight; left free, both weigh too much where texts quote

Floats = npt.NDArray[np.float32]


def write_weights(folder: Path, sides: Sequence[str] = WEIGHED) -> None:
    """Learn the weights of some sides from the training queries of all sets; the other sides weigh 0."""
    lists = read_lists(folder, "train")
    if not lists:
        raise LongmatchError(f"{folder} holds no lists of training queries. Run --step features first.")
    learnt = fit_weights(list(lists.values()), sides).astype(np.float64).round(4).tolist()
    weights = dict.fromkeys(NAMES, 0.0) | dict(zip(sides, learnt, strict=True))
    facts = {side: {"weight": weight, "floor": FLOORS[side]} for side, weight in weights.items()}
    (folder / WEIGHTS).write_text(json.dumps(facts, indent=2) + "\n", encoding="utf-8")


def read_weights(folder: Path) -> dict[str, Scale]:
    """Read what `write_weights` wrote; chance is not known yet."""
    path = folder / WEIGHTS
    if not path.is_file():
        raise LongmatchError(f"{folder} holds no {WEIGHTS}. Run --step weights first.")
    facts = json.loads(path.read_text(encoding="utf-8"))
    return {side: Scale(**scale, chance=0.0) for side, scale in facts.items()}


def fit_weights(
    sets: Sequence[QueryLists], sides: Sequence[str], steps: int = 60, floors: Mapping[str, float] = FLOORS
) -> Floats:
    """Weights of the sides that put answers first, every set counting alike; some weigh a share of phrases."""
    padded = [_pad(lists, sides, floors) for lists in sets]
    spread = torch.eye(len(sides))  # the weights of the sides by the free ones: (sides, free weights)
    if "phrases" in sides:
        for side in TIED.keys() & set(sides):
            spread[sides.index(side), sides.index("phrases")] = TIED[side]
        spread = spread[:, [side not in TIED for side in sides]]
    weights = torch.ones(spread.shape[1], requires_grad=True)
    optimizer = torch.optim.LBFGS([weights], max_iter=steps, line_search_fn="strong_wolfe")

    def closure() -> torch.Tensor:
        optimizer.zero_grad()
        losses = [listwise_loss(x @ (spread @ weights), answers, listed) for x, answers, listed in padded]
        loss = torch.stack(losses).mean() + 1e-3 * (weights - 1).square().sum()
        loss.backward()
        return loss

    optimizer.step(closure)  # type: ignore[no-untyped-call]
    return np.asarray((spread @ weights.detach()).numpy())


def _pad(
    lists: QueryLists, sides: Sequence[str], floors: Mapping[str, float]
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Features (queries, documents, sides), answers and which places are taken (queries, documents)."""
    counts = np.diff(lists.offsets)
    listed = np.arange(counts.max()) < counts[:, None]
    x = np.zeros((*listed.shape, len(sides)), dtype=np.float32)
    answers = np.zeros(listed.shape, dtype=bool)
    x[listed], answers[listed] = log_sides(lists, sides, floors), lists.grades > 0
    return torch.from_numpy(x), torch.from_numpy(answers), torch.from_numpy(listed)


def log_sides(lists: QueryLists, sides: Sequence[str], floors: Mapping[str, float] = FLOORS) -> Floats:
    """The logarithm of each side above its floor, as far as it is trusted: (documents, sides)."""
    columns = [NAMES.index(side) for side in sides]
    values = lists.sides.astype(np.float64)
    logs = [lists.trust[column] * log_above_floor(values[:, column], floors[NAMES[column]]) for column in columns]
    return np.stack(logs, axis=1).astype(np.float32)


def ndcg(
    lists: QueryLists, sides: Sequence[str], weights: Floats, floors: Mapping[str, float] = FLOORS
) -> npt.NDArray[np.float64]:
    """nDCG@10 of each query, with grades as gains."""
    scores = log_sides(lists, sides, floors) @ weights
    answers = []
    for wanted, (start, end) in zip(lists.wanted, pairwise(lists.offsets.tolist()), strict=True):
        grades = lists.grades[start:end][np.argsort(-scores[start:end], kind="stable")]
        places = np.flatnonzero(grades > 0)
        answers.append(QueryResult(places + 1, grades[places], wanted[wanted > 0], len(grades)))
    return nDCG(DEPTH).each(answers)
