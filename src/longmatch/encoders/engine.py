"""What computes a backbone's token vectors: torch, in float32 or with products of bfloat16, or OpenVINO."""

import copy
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

Precision = Literal["float32", "bfloat16"]
Numbers = Precision | Literal["mixed"]
"""What a backbone computes in.

mixed: products of bfloat16 between sums, norms and residuals of float32; bfloat16: all of it, the weights too.
"""

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Batch:
    """Pieces padded to one length."""

    rows: Ints  # (pieces,) which of the pieces asked for
    ids: Tensor  # (pieces, tokens)
    mask: Tensor  # (pieces, tokens) True where there is a token

    @staticmethod
    def of(rows: Ints, pieces: list[Ints], specials: tuple[int, int], multiple: int, most: int) -> "Batch":
        """Put the start and end tokens around each piece and pad to a multiple of some length, at most `most`.

        >>> Batch.of(np.array([0]), [np.array([7])], (1, 2), multiple=4, most=9).ids.tolist()
        [[1, 7, 2, 0]]
        """
        lengths = np.array([len(piece) for piece in pieces], dtype=np.int64) + 2
        width = max(int(lengths.max()), min(-(-int(lengths.max()) // multiple) * multiple, most))
        ids = np.zeros((len(pieces), width), dtype=np.int64)
        ids[:, 0] = specials[0]
        for row, piece in zip(ids, pieces, strict=True):
            row[1 : len(piece) + 1] = piece
            row[len(piece) + 1] = specials[1]
        return Batch(rows, torch.from_numpy(ids), torch.from_numpy(np.arange(width) < lengths[:, None]))


class Engine(Protocol):
    """Reads batches of tokens."""

    name: str
    precision: Numbers
    device: torch.device
    multiple: int  # batches are padded to a multiple of so many tokens

    def read(self, batches: Iterable[Batch]) -> Iterator[tuple[Batch, Tensor]]:
        """The vectors of all tokens of each batch (pieces, tokens, width), in any order, on `device`."""


class TorchEngine:
    """The Hugging Face module as it is."""

    name, multiple = "torch", 1

    def __init__(self, model: nn.Module, precision: Numbers | None = None) -> None:
        parameter = next(model.parameters())
        self.model, self.device = model, parameter.device
        self.precision: Numbers = precision or ("bfloat16" if parameter.dtype == torch.bfloat16 else "float32")

    @torch.inference_mode()
    def read(self, batches: Iterable[Batch]) -> Iterator[tuple[Batch, Tensor]]:
        """One batch after another."""
        for batch in batches:
            ids, mask = batch.ids.to(self.device), batch.mask.to(self.device)
            yield Batch(batch.rows, ids, mask), self.model(input_ids=ids, attention_mask=mask).last_hidden_state


class HalfLinear(nn.Module):
    """A linear layer in bfloat16, whatever its input: what is added to or normalised outside of it stays float32."""

    def __init__(self, layer: nn.Linear) -> None:
        super().__init__()
        self.weight = nn.Parameter(layer.weight.detach().bfloat16(), requires_grad=False)
        self.bias = None if layer.bias is None else nn.Parameter(layer.bias.detach().bfloat16(), requires_grad=False)

    def forward(self, x: Tensor) -> Tensor:
        """W x + b; the products are summed in float32 by the processor and rounded once."""
        return nn.functional.linear(x.bfloat16(), self.weight, self.bias)


def with_half_products(model: nn.Module) -> nn.Module:
    """A twin of a module whose linear layers are HalfLinear; all else it shares with the module."""
    linear = {id(layer): HalfLinear(layer) for layer in model.modules() if isinstance(layer, nn.Linear)}
    shared = {id(tensor): tensor for tensor in (*model.parameters(), *model.buffers())}
    return copy.deepcopy(model, {**shared, **linear})  # what stands here is taken as the copy
