"""Learn a low-rank change of a backbone from unlabelled documents: the halves of a document should find each other.

Words and phrases play no part: halves share too many of them to leave anything to learn. Nor are there hard
negatives: the documents most alike by words may well belong together.
"""

import time
from collections.abc import Callable, Iterable, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any

import numpy.typing as npt
import torch
from torch import Tensor, nn

from longmatch.encoders.backbone import Backbone
from longmatch.errors import LongmatchError
from longmatch.lab.adapting.passages import BatchShape, Halves, HalvesBatch, TokenizedText, batches
from longmatch.lab.encoders.backbone import as_torch
from longmatch.lab.encoders.low_rank import add_low_rank_layers, low_rank_change
from longmatch.lab.losses.listwise import listwise_loss


@dataclass(frozen=True)
class Pace:
    """How much is learnt, and how fast."""

    steps: int = 60
    rank: int = 8
    upper: float = 0.5  # share of the layers that change, the last ones
    learning_rate: float = 3e-3
    warm_up: float = 0.1  # share of the steps
    weight_decay: float = 0.01

    def rate(self, step: int) -> float:
        """The learning rate's factor: linear warm-up, then linear decay."""
        up = max(1, round(self.warm_up * self.steps))
        return (step + 1) / up if step < up else max(0.0, (self.steps - step) / max(1, self.steps - up))


SHAPE = BatchShape(anchors=24, sentences=6, tokens=40)
PACE = Pace()
LEAST_STEPS = 10  # however short the time

OnStep = Callable[[int, int], None]  # steps done, of how many
OnLoss = Callable[[int, float], None]  # the step and its loss


def learn_halves(
    backbone: Backbone,
    documents: Sequence[TokenizedText],
    steps: int | None,
    seed: int,
    deadline: float,
    on_step: OnStep | None = None,
) -> tuple[dict[str, npt.NDArray[Any]], int]:
    """Learn a change with which the halves of a document find each other; also returns the number of steps.

    The backbone itself stays as it is. Without `steps`, as many are made as fit before `deadline`, by the clock of
    `time.monotonic`, between LEAST_STEPS and `PACE.steps`.
    """
    halves = Halves.of(documents)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = deepcopy(as_torch(backbone).model).float()
        specials = backbone.first_token, backbone.last_token
        if steps is None:
            left = deadline - time.monotonic()
            steps = min(PACE.steps, max(LEAST_STEPS, int(left / _seconds_per_step(model, halves, specials))))
        total = steps
        drawn = batches(halves, SHAPE, specials, seed)
        learn(model, drawn, replace(PACE, steps=total), lambda step, _: on_step(step + 1, total) if on_step else None)
    return low_rank_change(model), steps


def _seconds_per_step(model: nn.Module, halves: Halves, specials: tuple[int, int]) -> float:
    """Measured on a copy."""
    copy = deepcopy(model)
    start = time.monotonic()
    with torch.random.fork_rng(devices=[]):
        learn(copy, batches(halves, SHAPE, specials, seed=0), replace(PACE, steps=1))
    return max(1e-3, time.monotonic() - start)


def learn(model: nn.Module, drawn: Iterable[HalvesBatch], pace: Pace, on_loss: OnLoss | None = None) -> None:
    """Train a low-rank change beside a network, in place; `low_rank_change` takes it out."""
    device = next(model.parameters()).device
    changed = add_low_rank_layers(model, pace.rank, pace.upper)
    model.to(device).train()
    score = MeaningScore().to(device)
    groups = [
        {"params": changed, "weight_decay": pace.weight_decay},
        {"params": score.parameters(), "weight_decay": 0.0, "lr": 10 * pace.learning_rate},
    ]
    optimizer = torch.optim.AdamW(groups, lr=pace.learning_rate)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, pace.rate)
    for step, batch in zip(range(pace.steps), drawn, strict=False):
        with torch.autocast(device.type, torch.bfloat16, enabled=device.type == "cuda"):
            vectors = sentence_vectors(model, batch, device)
        present, answers, listed = (
            torch.from_numpy(flags).to(device) for flags in (batch.present, batch.answers, batch.listed)
        )
        loss = listwise_loss(score(vectors, present, len(answers)), answers, listed)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_([p for group in optimizer.param_groups for p in group["params"]], 1.0)
        optimizer.step()
        schedule.step()
        if not torch.isfinite(loss):
            raise LongmatchError(f"The loss is not a number at step {step}. Try a smaller learning rate.")
        if on_loss:
            on_loss(step, loss.item())
    model.eval()


def sentence_vectors(model: nn.Module, batch: HalvesBatch, device: torch.device, parts: int = 8) -> Tensor:
    """The mean of each sentence's token vectors, of length 1: (halves, sentences, width).

    Rows of similar length are encoded together, to save padding.
    """
    ids, lengths = torch.from_numpy(batch.ids).long(), torch.from_numpy(batch.mask).sum(1)
    order = lengths.argsort()
    encoded = [_encode(model, ids[part], lengths[part], device) for part in order.chunk(parts)]
    return torch.cat(encoded)[order.argsort().to(device)].view(*batch.present.shape, -1)


def _encode(model: nn.Module, ids: Tensor, lengths: Tensor, device: torch.device) -> Tensor:
    width = int(lengths.max())
    mask = (torch.arange(width) < lengths[:, None]).to(device)
    hidden = model(input_ids=ids[:, :width].to(device), attention_mask=mask.long()).last_hidden_state
    pooled = (hidden * mask[..., None]).sum(1).float() / mask.sum(1, keepdim=True)
    return nn.functional.normalize(pooled, dim=1)


class MeaningScore(nn.Module):
    """Best partners of sentences, and the documents' mean vectors, each with a learnt weight."""

    def __init__(self) -> None:
        super().__init__()
        self.meaning = nn.Parameter(torch.tensor(12.0))
        self.topic = nn.Parameter(torch.tensor(4.0))

    def forward(self, vectors: Tensor, present: Tensor, first: int) -> Tensor:
        """Score the first documents with all: (documents, sentences, width) -> (first, documents)."""
        meaning = best_partner_scores(vectors[:first], present[:first], vectors, present)
        return self.meaning * meaning + self.topic * mean_scores(vectors, present, first)


def best_partner_scores(a: Tensor, a_present: Tensor, b: Tensor, b_present: Tensor) -> Tensor:
    """The mean cosine of each sentence's best partner, averaged over both directions: (documents of a, of b)."""
    cosines = torch.einsum("asw,btw->abst", a, b).float()  # (documents, documents, sentences, sentences)
    for_a = cosines.masked_fill(~b_present[None, :, None, :], -1.0).amax(3)
    for_b = cosines.masked_fill(~a_present[:, None, :, None], -1.0).amax(2)
    return (_mean(for_a, a_present[:, None, :]) + _mean(for_b, b_present[None, :, :])) / 2


def mean_scores(vectors: Tensor, present: Tensor, first: int) -> Tensor:
    """The cosine of the documents' mean vectors: (first, documents)."""
    means = nn.functional.normalize((vectors.float() * present[..., None]).sum(1), dim=1)
    return means[:first] @ means.T


def _mean(values: Tensor, present: Tensor) -> Tensor:
    return (values * present).sum(2) / present.sum(2).clamp(min=1)
