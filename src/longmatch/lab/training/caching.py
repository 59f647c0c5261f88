"""Contrastive batches larger than memory, by gradient caching (Gao et al., 2021)."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeVar

import torch
from torch import Tensor

P = TypeVar("P")


def cached_backward(encode: Callable[[P], Tensor], pieces: Sequence[P], loss: Callable[[Tensor], Tensor]) -> Tensor:
    """Backpropagate a loss over the vectors of all pieces, with the memory of one piece at a time.

    A contrastive loss needs the vectors of the whole batch, but not what it took to compute them. So every piece is
    encoded twice: first without a graph, for the vectors and from them the loss and its gradient with respect to each
    vector; then with one, through which that gradient goes back. The random numbers of the first time (dropout) are
    drawn again the second time, so the gradient equals that of the whole batch at once. Gradients add up in the
    parameters, as after `loss.backward()`, those that the loss itself has too; the loss is returned without a graph.

    `encode` gives a piece's vectors (rows, width); `loss` takes the rows of all pieces, one after another. One piece
    alone is encoded once.
    """
    if len(pieces) == 1:
        whole = loss(encode(pieces[0]))
        whole.backward()
        return whole.detach()
    states: list[_Randomness] = []
    found: list[Tensor] = []
    with torch.no_grad():
        for piece in pieces:
            states.append(_Randomness.now())
            found.append(encode(piece))
    vectors = torch.cat(found).detach().requires_grad_()
    value = loss(vectors)
    value.backward()
    assert vectors.grad is not None
    for piece, state, share in zip(pieces, states, vectors.grad.split([len(v) for v in found]), strict=True):
        with state.again():
            encode(piece).backward(share)
    return value.detach()


@dataclass(frozen=True)
class _Randomness:
    """Where the random number generators stand, to draw the same numbers again."""

    cpu: Tensor
    cuda: list[Tensor]

    @staticmethod
    def now() -> "_Randomness":
        return _Randomness(torch.get_rng_state(), torch.cuda.get_rng_state_all() if torch.cuda.is_available() else [])

    @contextmanager
    def again(self) -> Iterator[None]:
        """Draw from here for a while, then go on as before."""
        before = _Randomness.now()
        self._set()
        try:
            yield
        finally:
            before._set()

    def _set(self) -> None:
        torch.set_rng_state(self.cpu)
        if self.cuda:
            torch.cuda.set_rng_state_all(self.cuda)
