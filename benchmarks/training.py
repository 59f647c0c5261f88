"""Training CoLDE: our batches against plain padded ones, and what gradient caching saves.

    python -m benchmarks.training DATA_FOLDER [--documents 64] [--steps 10] [--max-tokens 6144]

The same model learns from the same pairs of the same documents, in one process, turn by turn:

- ours: chunks of about one length are padded together, within a budget of tokens;
- padded: every document is padded to the longest of its batch, every chunk to 512 tokens, as a plain collator does; as
  many documents at a time as the budget holds.

Tokens a second are real tokens, padding not counted. The share of the device's rate is the work that the real tokens
need (see `work`) against the rate of a large product of matrices in the same precision, measured in the same run. Then
the most memory a step takes for 200 documents of 12 chunks, with and without gradient caching (on a GPU; smaller on a
CPU: --memory-documents 8 --memory-chunks 4).
"""

import argparse
import gc
import resource
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from statistics import median

import numpy as np
import torch
from rich.console import Console
from rich.table import Table
from torch import Tensor, nn

from benchmarks.papers.gpu.padded import CHUNK, PaddedChunks
from benchmarks.papers.gpu.timing import timed
from benchmarks.papers.gpu.workload import DEVICE, autocast
from longmatch.lab.encoders.flat import FlatTokens
from longmatch.lab.losses import supervised_contrastive_loss
from longmatch.lab.papers.colde.augmentation import ChunkBatch
from longmatch.lab.papers.colde.encoder import ColdeModel
from longmatch.lab.papers.colde.training import ColdeRecipe, ColdeSettings
from longmatch.lab.training.bi_encoder_recipe import PairBatch
from longmatch.lab.training.gradient_cache import cached_backward
from longmatch.lab.training.settings import TrainingSettings
from longmatch.parallel import half_the_cores, use_processes


def work(model: ColdeModel, lengths: Tensor) -> float:
    """Floating point operations of a forward and a backward pass over chunks of these lengths.

    Two for each weight of the layers and each token, four for each pair of tokens in attention and each number of the
    width; a backward pass takes twice the forward's. What gradient caching does twice counts once.
    """
    weights = sum(p.numel() for p in model.backbone.encoder.parameters())
    config = model.backbone.config
    tokens = lengths.double()
    forward = 2 * weights * tokens.sum() + 4 * config.num_hidden_layers * config.hidden_size * (tokens**2).sum()
    return 3 * float(forward)


def on_device(model: ColdeModel) -> ColdeModel:
    """The model on the device, set to train."""
    moved: nn.Module = model
    moved.to(DEVICE).train()
    return model


def matrix_rate() -> float:
    """Operations a second of one large product in the precision of training."""
    size, dtype = (8192, torch.bfloat16) if DEVICE.type == "cuda" else (2048, torch.float32)
    a, b = (torch.randn(size, size, device=DEVICE, dtype=dtype) for _ in range(2))
    return 2 * size**3 / min(timed(lambda: a @ b, 5))


def ours(recipe: ColdeRecipe, batch: PairBatch[ChunkBatch]) -> None:
    with autocast():
        recipe.backward(recipe.model, batch.to(DEVICE))
    recipe.model.zero_grad()


def padded(recipe: ColdeRecipe, batch: PairBatch[ChunkBatch], plain: PaddedChunks, budget: int) -> None:
    together = batch.targets.to(DEVICE)
    pieces = plain.pieces(budget)
    with autocast():
        cached_backward(
            lambda piece: piece.vectors(recipe.model),
            pieces,
            lambda vectors: supervised_contrastive_loss(vectors, together, recipe.model.config.loss_temperature),
        )
    recipe.model.zero_grad()


def compare(data: Path, documents: int, steps: int, max_tokens: int | None) -> None:
    """Both ways over the same batches, turn by turn."""
    settings = TrainingSettings(documents=documents, max_tokens=max_tokens)
    recipe = ColdeRecipe.make([data], Path("out") / "training-benchmark", settings, ColdeSettings())
    on_device(recipe.model)
    budget = settings.token_budget(DEVICE.type == "cuda")
    rate = matrix_rate()
    speeds: dict[str, list[float]] = {"ours": [], "padded": []}
    shares: dict[str, list[float]] = {"ours": [], "padded": []}
    filled = []
    for step in range(steps):
        batch = recipe.draw(step)
        plain = PaddedChunks.of(batch.documents)
        filled.append(batch.tokens / plain.ids.numel())
        needed = work(recipe.model, batch.documents.text.lengths)
        ways = {"ours": lambda: ours(recipe, batch), "padded": lambda: padded(recipe, batch, plain, budget)}  # noqa: B023
        for name, way in ways.items():
            seconds = timed(way, 1)[0]
            speeds[name].append(batch.tokens / seconds)
            shares[name].append(needed / seconds / rate)
    table = Table("batches", "tokens a second", "times", "share of the matrix rate", "of it no padding")
    for name, found in speeds.items():
        times = median(found) / median(speeds["padded"])
        fill = f"{100 * median(filled):.0f} %" if name == "padded" else ""
        table.add_row(name, f"{median(found):,.0f}", f"{times:.2f}", f"{100 * median(shares[name]):.1f} %", fill)
    console = Console(width=120)
    console.print(f"{documents} documents a step, {steps} steps, {_device()}; matrix rate {rate / 1e12:.2f} TFLOP/s")
    console.print(table)


def memory(documents: int, chunks: int, budget: int | None) -> int:
    """The most bytes that a step over so many documents of so many full chunks takes."""
    torch.manual_seed(0)
    model = on_device(ColdeModel.from_backbone(None))
    limit = model.chunk_limit
    pieces = [np.random.default_rng(i).integers(1000, 20_000, limit) for i in range(documents * chunks)]
    numbers = torch.arange(documents * chunks)
    place = numbers % chunks
    batch = ChunkBatch(
        FlatTokens.of(pieces, (101, 102)), (place >= chunks // 2).long(), place % (chunks // 2), numbers // chunks
    ).to(DEVICE)
    labels = torch.arange(documents, device=DEVICE).div(2, rounding_mode="floor").repeat_interleave(2)
    if DEVICE.type == "cuda":
        torch.cuda.reset_peak_memory_stats()
    with autocast():
        if budget is None:
            supervised_contrastive_loss(model.encode_batch(batch).sections, labels).backward()
        else:
            cached_backward(
                lambda piece: model.encode_batch(piece).sections,
                list(batch.groups(budget)),
                lambda vectors: supervised_contrastive_loss(vectors, labels),
            )
    if DEVICE.type == "cuda":
        return torch.cuda.max_memory_allocated()
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def compare_memory(documents: int, chunks: int) -> None:
    """With and without."""
    table = Table("gradient caching", "peak MB")
    for budget in (None, *((8_192, 32_768, 131_072) if DEVICE.type == "cuda" else (2_048,))):
        found = (
            memory_here(documents, chunks, budget) if DEVICE.type == "cuda" else memory_apart(documents, chunks, budget)
        )
        table.add_row("none" if budget is None else f"{budget:,} tokens at a time", found)
    console = Console(width=120)
    console.print(f"{documents} documents of {chunks} chunks of {CHUNK} tokens, {_device()}")
    console.print(table)


def memory_here(documents: int, chunks: int, budget: int | None) -> str:
    """As torch counts it on a GPU."""
    try:
        return f"{memory(documents, chunks, budget) / 1e6:,.0f}"
    except torch.OutOfMemoryError:
        held = torch.cuda.get_device_properties(0).total_memory
        return f"more than the {held / 1e6:,.0f} there are"
    finally:
        gc.collect()
        torch.cuda.empty_cache()


def memory_apart(documents: int, chunks: int, budget: int | None) -> str:
    """Of a process of its own, whose memory begins anew."""
    command = [sys.executable, __file__, "--memory", str(documents), str(chunks), str(budget or "none")]
    said = subprocess.run(command, check=False, capture_output=True, text=True)
    return f"{int(said.stdout.split()[-1]) / 1e6:,.0f}" if said.returncode == 0 else said.stderr.splitlines()[-1]


def _device() -> str:
    return torch.cuda.get_device_name() if DEVICE.type == "cuda" else f"CPU, {torch.get_num_threads()} threads"


def main(words: Sequence[str]) -> None:
    if words[:1] == ["--memory"]:  # the process that measures
        documents, chunks, budget = words[1:]
        print(memory(int(documents), int(chunks), None if budget == "none" else int(budget)))
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--documents", type=int, default=64)
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--max-tokens", type=int, default=None)
    parser.add_argument("--memory-documents", type=int, default=200)
    parser.add_argument("--memory-chunks", type=int, default=12)
    options = parser.parse_args(words)
    use_processes(half_the_cores())  # that tokenise
    compare(options.data, options.documents, options.steps, options.max_tokens)
    compare_memory(options.memory_documents, options.memory_chunks)


if __name__ == "__main__":
    main(sys.argv[1:])
