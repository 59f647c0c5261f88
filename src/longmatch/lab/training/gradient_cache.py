"""Contrastive batches larger than memory, by gradient caching (Gao et al., 2021)."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeVar

import torch
from torch import Tensor

P = TypeVar("P")


def cached_backward(encode: Callable[[P], Tensor], pieces: Sequence[P], loss: Callable[[Tensor], Tensor]) -> Tensor:
    """Backpropagate a loss over the vectors of all pieces while holding the graph of only one piece in memory.

    A contrastive loss needs the vectors of the whole batch, but not the activations behind them. So every piece is
    encoded twice: first without a graph, to get the vectors, the loss and its gradient with respect to each vector;
    then with a graph, through which that gradient is propagated. The second pass replays the random numbers of the
    first (dropout), so the gradient equals that of the whole batch in one pass. Gradients accumulate in the parameters
    as after `loss.backward()`, including any parameters of the loss itself; the loss is returned without a graph.

    `encode` maps a piece to its vectors (rows, width); `loss` takes the rows of all pieces, concatenated. A single
    piece is encoded only once.
    """
    if len(pieces) == 1:
        whole = loss(encode(pieces[0]))
        whole.backward()
        return whole.detach()
    states: list[_RandomState] = []
    parts: list[Tensor] = []
    with torch.no_grad():
        for piece in pieces:
            states.append(_RandomState.current())
            parts.append(encode(piece))
    vectors = torch.cat(parts).detach().requires_grad_()
    value = loss(vectors)
    value.backward()
    assert vectors.grad is not None
    gradients = vectors.grad.split([len(part) for part in parts])
    for piece, state, gradient in zip(pieces, states, gradients, strict=True):
        with state.replayed():
            encode(piece).backward(gradient)
    return value.detach()


@dataclass(frozen=True)
class _RandomState:
    """A snapshot of torch's random number generators."""

    cpu: Tensor
    cuda: list[Tensor]

    @staticmethod
    def current() -> "_RandomState":
        return _RandomState(torch.get_rng_state(), torch.cuda.get_rng_state_all() if torch.cuda.is_available() else [])

    @contextmanager
    def replayed(self) -> Iterator[None]:
        """Draw from this state inside the block, then restore the state from before it."""
        before = _RandomState.current()
        self._restore()
        try:
            yield
        finally:
            before._restore()

    def _restore(self) -> None:
        torch.set_rng_state(self.cpu)
        if self.cuda:
            torch.cuda.set_rng_state_all(self.cuda)
