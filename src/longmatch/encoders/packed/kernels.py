"""A GPU's attention over sequences of many lengths, as one operation that torch.compile takes as it is.

Sequences of up to 64 tokens have a kernel of their own (short.py), where the flash kernels, made for tiles of 128
tokens, would mostly multiply nothing. Either is tried on a few drawn sequences before its first use, against the
obvious way: one that fails or differs is left out, with one warning.
"""

import os
import warnings
from collections.abc import Callable
from functools import cache, partial
from typing import Any

import torch
from torch import Tensor

from longmatch.encoders.packed.attention import attend_padded
from longmatch.errors import LongmatchWarning

HALF = (torch.bfloat16, torch.float16)
LARGEST_HEAD = 256  # numbers, of the flash kernels
NEAR = 0.03  # how far a kernel may be from the obvious way, of the largest number: bfloat16 has 8 bits


def usable(device: torch.device, dtype: torch.dtype, size: int) -> bool:
    """Whether this device has a kernel for these numbers and this size of a head."""
    fits = device.type == "cuda" and dtype in HALF and size % 8 == 0 and size <= LARGEST_HEAD
    return fits and _agrees("flash", dtype, size)


def attend_fused(qkv: Tensor, offsets: Tensor, longest: Tensor, dropout: float = 0.0) -> Tensor:
    """As `attend_padded`, on a GPU. `offsets` are int32."""
    found: Tensor = attend(qkv, offsets, longest, dropout)[0]
    return found


def _is_short(qkv: Tensor, longest: int) -> bool:
    from longmatch.encoders.packed import short

    if longest > short.LONGEST or qkv.shape[-1] not in short.SIZES or os.environ.get("LONGMATCH_SHORT") == "0":
        return False
    return _agrees("short", qkv.dtype, qkv.shape[-1])


@torch.library.custom_op("longmatch::attend", mutates_args=())
def attend(qkv: Tensor, offsets: Tensor, longest: Tensor, dropout: float) -> tuple[Tensor, Tensor, Tensor]:
    """(tokens, heads, size); the logarithms of the sums of weights (heads, tokens); what dropout was drawn from (2,)."""
    most = int(longest)
    if _is_short(qkv, most):
        return _short_forward(qkv, offsets, most, dropout)
    return _flash_forward(qkv, offsets, most, dropout)


@attend.register_fake
def _(qkv: Tensor, offsets: Tensor, longest: Tensor, dropout: float) -> tuple[Tensor, Tensor, Tensor]:
    tokens, _, heads, size = qkv.shape
    return (
        qkv.new_empty((tokens, heads, size)),
        qkv.new_empty((heads, tokens), dtype=torch.float32),
        qkv.new_empty(2, dtype=torch.uint64),
    )


@torch.library.custom_op("longmatch::attend_backward", mutates_args=())
def attend_backward(
    grad: Tensor, qkv: Tensor, out: Tensor, sums: Tensor, drawn: Tensor, offsets: Tensor, longest: Tensor, dropout: float
) -> Tensor:
    """The gradient for (tokens, 3, heads, size)."""
    most = int(longest)
    backward = _short_backward if _is_short(qkv, most) else _flash_backward
    return backward(grad.contiguous(), qkv, out, sums, drawn, offsets, most, dropout)


@attend_backward.register_fake
def _(grad: Tensor, qkv: Tensor, *others: Any) -> Tensor:
    return qkv.new_empty(qkv.shape)


def _keep(context: Any, inputs: tuple[Any, ...], output: tuple[Tensor, Tensor, Tensor]) -> None:
    qkv, offsets, longest, context.dropout = inputs
    context.save_for_backward(qkv, *output, offsets, longest)


def _back(context: Any, grad: Tensor, *unused: Any) -> tuple[Tensor, None, None, None]:
    found: Tensor = attend_backward(grad, *context.saved_tensors, context.dropout)
    return found, None, None, None


attend.register_autograd(_back, setup_context=_keep)

Saved = tuple[Tensor, Tensor, Tensor]
Forward = Callable[[Tensor, Tensor, int, float], Saved]


def _flash_forward(qkv: Tensor, offsets: Tensor, longest: int, dropout: float) -> Saved:
    found = torch.ops.aten._flash_attention_forward(
        *qkv.unbind(1), offsets, offsets, longest, longest, dropout, False, False
    )
    out, sums, drawn = found[:3]
    if drawn.shape != (2,) or drawn.dtype != torch.uint64:  # where there is no dropout some versions leave it out
        drawn = torch.zeros(2, dtype=torch.uint64, device=qkv.device)
    return out.contiguous(), sums, drawn


def _flash_backward(
    grad: Tensor, qkv: Tensor, out: Tensor, sums: Tensor, drawn: Tensor, offsets: Tensor, longest: int, dropout: float
) -> Tensor:
    unused = torch.empty(0, device=qkv.device, dtype=torch.uint64)
    parts = (*qkv.unbind(1), out, sums, offsets, offsets, longest, longest, dropout, False, drawn, unused)
    return torch.stack(torch.ops.aten._flash_attention_backward(grad, *parts), dim=1)


def _short_forward(qkv: Tensor, offsets: Tensor, longest: int, dropout: float) -> Saved:
    from longmatch.encoders.packed import short

    draw = partial(torch.randint, 1 << 62) if dropout else partial(torch.zeros, dtype=torch.int64)
    drawn = draw((2,), device=qkv.device)
    out = short.forward(qkv, offsets, longest, dropout, drawn)
    return out, qkv.new_empty((qkv.shape[2], len(qkv)), dtype=torch.float32), drawn.view(torch.uint64)


def _short_backward(
    grad: Tensor, qkv: Tensor, out: Tensor, sums: Tensor, drawn: Tensor, offsets: Tensor, longest: int, dropout: float
) -> Tensor:
    from longmatch.encoders.packed import short

    return short.backward(grad, qkv, offsets, longest, dropout, drawn.view(torch.int64))


KERNELS = {
    "flash": (_flash_forward, _flash_backward, (1, 200, 64, 129, 7)),
    "short": (_short_forward, _short_backward, (1, 64, 5, 16, 33, 17, 32)),
}


@cache
def _agrees(name: str, dtype: torch.dtype, size: int) -> bool:
    """Whether a kernel gives what the obvious way gives, forth and back, on a few drawn sequences."""
    forward, backward, lengths = KERNELS[name]
    try:
        for most in {max(lengths), 32, 16} if name == "short" else {max(lengths)}:
            chosen = [length for length in lengths if length <= most]
            if not _near(forward, backward, chosen, dtype, size):
                raise ArithmeticError("it gives other numbers than the plain way")
    except Exception as error:  # whatever it is: there is another way
        reason = f"{type(error).__name__}: {error}".splitlines()[0]
        warnings.warn(f"The {name} attention kernel is not used ({reason}).", LongmatchWarning, stacklevel=2)
        return False
    return True


def _near(forward: Forward, backward: Callable[..., Tensor], lengths: list[int], dtype: torch.dtype, size: int) -> bool:
    with torch.inference_mode(False), torch.random.fork_rng(devices=[torch.cuda.current_device()]):
        torch.manual_seed(0)
        made = partial(torch.randn, dtype=dtype, device="cuda")
        qkv, grad = made(sum(lengths), 3, 4, size), made(sum(lengths), 4, size)
        offsets = torch.tensor([0, *lengths], dtype=torch.int32).cumsum(0, dtype=torch.int32).cuda()
        with torch.no_grad():
            out, *saved = forward(qkv, offsets, max(lengths), 0.0)
            back = backward(grad, qkv, out, *saved, offsets, max(lengths), 0.0)
        with torch.enable_grad():
            plain = qkv.detach().float().requires_grad_()
            wanted = attend_padded(plain, offsets, torch.tensor(max(lengths)))
            (wanted_back,) = torch.autograd.grad(wanted, plain, grad.float())
        pairs = ((out, wanted), (back, wanted_back))
        return all(float((a.float() - b).abs().max()) <= NEAR * float(b.abs().max()) for a, b in pairs)
