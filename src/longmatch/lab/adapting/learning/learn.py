"""Learn a low-rank change to the backbone from batches of several collections."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from longmatch.encoders.low_rank import add_low_rank_layers
from longmatch.errors import LongmatchError
from longmatch.lab.adapting.learning.batches import Drawn
from longmatch.lab.adapting.learning.combined import CombinedScore, Titles
from longmatch.lab.losses.listwise import listwise_loss


@dataclass(frozen=True)
class Pace:
    """How fast and how long."""

    steps: int = 400
    rank: int = 32
    upper: float = 1.0  # share of the layers that change, the last ones: the fewer, the quicker
    learning_rate: float = 4e-4
    warm_up: float = 0.1  # share of the steps
    decay: float = 0.01


Told = Callable[[int, float], None]  # the step and its loss


def learn(model: nn.Module, drawn: Iterable[Drawn], pace: Pace, told: Told | None = None) -> CombinedScore:
    """Train a low-rank change of a backbone in place (see `low_rank_change`); returns the weights of the sides."""
    device = next(model.parameters()).device
    changed = add_low_rank_layers(model, pace.rank, pace.upper)
    model.to(device).train()
    score = CombinedScore().to(device)
    groups = [
        {"params": changed, "weight_decay": pace.decay},
        {"params": score.parameters(), "weight_decay": 0.0, "lr": 10 * pace.learning_rate},
    ]
    optimizer = torch.optim.AdamW(groups, lr=pace.learning_rate)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: _rate(step, pace))
    for step, batch in zip(range(pace.steps), drawn, strict=False):
        with torch.autocast(device.type, torch.bfloat16, enabled=device.type == "cuda"):
            vectors, titles = sentence_vectors(model, batch, device)
        lexical, present = torch.from_numpy(batch.lexical).to(device), torch.from_numpy(batch.present).to(device)
        scores = score(vectors, present, lexical, titles)
        answers, listed = (torch.from_numpy(x).to(device) for x in (batch.answers, batch.listed))
        loss = listwise_loss(scores, answers, listed)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_([p for group in optimizer.param_groups for p in group["params"]], 1.0)
        optimizer.step()
        schedule.step()
        if not torch.isfinite(loss):
            raise LongmatchError(f"The loss is not a number at step {step}. Try a smaller learning rate.")
        if told:
            told(step, loss.item())
    model.eval()
    return score


def sentence_vectors(
    model: nn.Module, batch: Drawn, device: torch.device, parts: int = 8
) -> tuple[Tensor, Titles | None]:
    """The mean of each sentence's token vectors, of length 1: (documents, sentences, width); and the titles, if any.

    Rows of about one length are read together, so that little is padded.
    """
    ids, mask = torch.from_numpy(batch.ids).long(), torch.from_numpy(batch.mask)
    lengths = mask.sum(1)
    order = lengths.argsort()
    read = [_read(model, ids[part], lengths[part], device) for part in order.chunk(parts)]
    counts = [batch.present.size, batch.telling.size, int(batch.titled.sum())]
    sentences, telling, titles = torch.cat(read)[order.argsort().to(device)].split(counts)
    vectors = sentences.view(*batch.present.shape, -1)
    if not len(titles):
        return vectors, None
    present, titled = (torch.from_numpy(x).to(device) for x in (batch.telling, batch.titled))
    further = telling.view(*batch.telling.shape, titles.shape[1])
    return vectors, Titles(further, present, titles, titled, batch.trust)


def _read(model: nn.Module, ids: Tensor, lengths: Tensor, device: torch.device) -> Tensor:
    width = int(lengths.max())
    mask = (torch.arange(width) < lengths[:, None]).to(device)
    hidden = model(input_ids=ids[:, :width].to(device), attention_mask=mask.long()).last_hidden_state
    pooled = (hidden * mask[..., None]).sum(1).float() / mask.sum(1, keepdim=True)
    return nn.functional.normalize(pooled, dim=1)


def _rate(step: int, pace: Pace) -> float:
    """Up in a straight line, then down."""
    up = max(1, round(pace.warm_up * pace.steps))
    return (step + 1) / up if step < up else max(0.0, (pace.steps - step) / max(1, pace.steps - up))
