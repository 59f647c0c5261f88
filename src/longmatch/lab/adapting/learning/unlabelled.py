"""Learning a change of a backbone from documents without labels, in a given time on an ordinary computer."""

import time
from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import replace

import torch
from torch import Tensor, nn

from longmatch.encoders.backbone import Backbone
from longmatch.encoders.low_rank import low_rank_change
from longmatch.lab.adapting.learning.batches import Shape, batches
from longmatch.lab.adapting.learning.learn import Pace, learn
from longmatch.lab.adapting.learning.material import Material
from longmatch.lab.adapting.learning.passages import Reading, material_of_halves

SHAPE = Shape(anchors=24, negatives=0, sentences=6, tokens=40)
PACE = Pace(rank=8, learning_rate=3e-3, upper=0.5)
STEPS = 60  # more than these give little
FEWEST = 10  # below these nothing is learnt, however short the time

Told = Callable[[int, int], None]  # steps done, and of how many


def learn_halves(
    backbone: Backbone,
    documents: Sequence[Reading],
    steps: int | None,
    seed: int,
    until: float,
    told: Told | None = None,
) -> tuple[dict[str, Tensor], int]:
    """What makes the halves of a document find each other among others, and in how many steps it was learnt.

    The backbone stays as it is. Where no number of steps is given, it is what fits in until `until`, by the clock of
    `time.monotonic`.
    """
    material = material_of_halves(documents)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = deepcopy(backbone.model).float()
        specials = backbone.first_token, backbone.last_token
        if steps is None:
            left = until - time.monotonic()
            steps = min(STEPS, max(FEWEST, int(left / _seconds_a_step(model, material, specials))))
        drawn = batches([material], SHAPE, specials, seed)
        count = steps
        learn(model, drawn, replace(PACE, steps=count), lambda step, _: told(step + 1, count) if told else None)
    return low_rank_change(model), steps


def _seconds_a_step(model: nn.Module, material: Material, specials: tuple[int, int]) -> float:
    """Tried on a copy."""
    tried = deepcopy(model)
    began = time.monotonic()
    with torch.random.fork_rng(devices=[]):
        learn(tried, batches([material], SHAPE, specials, seed=0), replace(PACE, steps=1))
    return max(1e-3, time.monotonic() - began)
