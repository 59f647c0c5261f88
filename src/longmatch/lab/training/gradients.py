"""The gradient of a step that several batches make, in one process or in several."""

import torch
from torch import distributed


def average_gradients(model: torch.nn.Module, batches: int, processes: int) -> None:
    """Turn the sum over a step's batches, of all processes, into their mean.

    By hand: a recipe may go back through the model in pieces, which the hooks of DistributedDataParallel do not follow.
    A weight without a gradient has one of 0 if it has one in another process.
    """
    weights = [weight for weight in model.parameters() if weight.requires_grad]
    if processes > 1:
        used = torch.tensor([weight.grad is not None for weight in weights], device=weights[0].device).int()
        distributed.all_reduce(used, distributed.ReduceOp.MAX)
        weights = [weight for weight, number in zip(weights, used.tolist(), strict=True) if number]
        flat = torch.cat([(torch.zeros_like(w) if w.grad is None else w.grad).flatten() for w in weights])
        distributed.all_reduce(flat)
        for weight, part in zip(weights, flat.split([w.numel() for w in weights]), strict=True):
            weight.grad = part.view_as(weight)
    gradients = [weight.grad for weight in weights if weight.grad is not None]
    if gradients and batches > 1:
        torch._foreach_div_(gradients, batches)
