"""The kernels give what the reference gives, forward and backward. Triton's interpreter stands in for a GPU."""

import json
import os
import subprocess
import sys
from importlib.util import find_spec

import pytest

pytestmark = pytest.mark.skipif(find_spec("triton") is None, reason="Triton is not installed")

CHECK = """
import json

import torch

from longmatch.lab.encoders.packed import short_attention, tiled_attention
from longmatch.lab.encoders.packed.attention import TEST_LENGTHS, attention_error
from longmatch.lab.encoders.packed.bert import fused_error
from longmatch.lab.encoders.packed.fused_layer import FusedLayer, norm

cpu, found = torch.device("cpu"), {}
backends = {"short": short_attention, "tiled": tiled_attention}
for name, backend in backends.items():
    cases = [(lengths, torch.float32, size, cpu) for lengths in TEST_LENGTHS[backend] for size in (16, 32)]
    found[name] = max(attention_error(backend, *case) for case in cases)
found["layer"] = max(fused_error((5, 70, 1), torch.float32, width, 3, cpu) for width in (48, 96))

torch.manual_seed(0)
made, around = torch.randn(300, 96), torch.zeros(300, 96)
one, seed = torch.ones(96), torch.tensor([7], dtype=torch.int32)
for share in (0.1, 0.5):
    _, means, _ = norm(torch.ones_like(made), around, one, one, 1e-12, share, seed)
    found[f"mean after {share}"] = float(means.mean())


def slope(work, at):  # along a random direction: by the backward pass, and by two steps
    at = at.clone().requires_grad_()
    along = 1e-2 * torch.randn_like(at)
    (gradient,) = torch.autograd.grad(work(at), at)
    with torch.no_grad():
        return float((gradient * along).sum()), float(work(at + along) - work(at - along)) / 2


class Attention(torch.autograd.Function):
    @staticmethod
    def forward(ctx, qkv, backend, offsets, longest):
        torch.manual_seed(1)
        ctx.saved = qkv, backend.forward(qkv, offsets, longest, 0.3)
        ctx.rest = backend, offsets, longest
        return ctx.saved[1][0]

    @staticmethod
    def backward(ctx, grad):
        backend, offsets, longest = ctx.rest
        return backend.backward(grad, *ctx.saved, offsets, longest, 0.3), None, None, None


for name, lengths in (("short", (20, 5)), ("tiled", (150, 3))):
    backend = backends[name]
    offsets = torch.tensor([0, *lengths]).cumsum(0).int()
    share = torch.randn(sum(lengths), 2, 16)
    work = lambda qkv: (Attention.apply(qkv, backend, offsets, max(lengths)) * share).sum()
    found["slopes of " + name] = slope(work, torch.randn(sum(lengths), 3, 2, 16))

sizes = [(48, 48)] * 4 + [(192, 48), (48, 192)]
weights = [part for rows, columns in sizes for part in (torch.randn(rows, columns) / 7, torch.zeros(rows))]
weights += [torch.ones(48), torch.zeros(48)] * 2
offsets, share = torch.tensor([0, 9, 30], dtype=torch.int32), torch.randn(30, 48)


def read(x):
    torch.manual_seed(1)
    return (FusedLayer.apply(x, offsets, 21, 3, 1e-12, (0.3, 0.3), *weights) * share).sum()


found["slopes of layer"] = slope(read, torch.randn(30, 48))
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def found() -> dict:
    environment = os.environ | {"TRITON_INTERPRET": "1"}
    run = subprocess.run([sys.executable, "-c", CHECK], check=True, capture_output=True, text=True, env=environment)
    return json.loads(run.stdout)


@pytest.mark.parametrize("kernel", ["short", "tiled", "layer"])
def test_a_kernel_agrees_with_the_reference(found, kernel):
    assert found[kernel] < 1e-5


@pytest.mark.parametrize("kernel", ["short", "tiled", "layer"])
def test_the_backward_pass_drops_what_the_forward_pass_dropped(found, kernel):
    by_gradient, by_steps = found[f"slopes of {kernel}"]
    assert abs(by_gradient - by_steps) < 0.02 * abs(by_steps)


@pytest.mark.parametrize("share", [0.1, 0.5])
def test_dropout_takes_its_share_and_keeps_the_mean(found, share):
    assert abs(found[f"mean after {share}"] - 1) < 0.02
