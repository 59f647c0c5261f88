"""What long documents cost: the most memory and the time of one training step, against a document's tokens.

    python -m benchmarks.memory [--tokens 512 1024 2048 4096 8192 16384] [--documents 4] [--out docs/memory.json]
    python -m benchmarks.memory --plot docs/memory.json

The same number of tokens is read by

- smith: 6 layers over blocks of 32 tokens and 3 over the blocks, 256 wide, as in the paper;
- smith-384: the same with the packaged backbone's six layers (384 wide) at the sentence level, as all rows below have;
- colde: chunks of 512 tokens, attention between chunks, an LSTM;
- s-long: attention within 256 tokens to either side;
- full: attention of every token to every other, by the fused kernel, position embeddings repeat_positions;
- full-plain: the same with the table of all pairs of tokens held in memory, as before such kernels.

A step is a forward and a backward pass; memory is what it takes beyond the model's weights and the input. On a GPU
products are bfloat16 and memory is what torch holds at its most. On a CPU they are float32, each figure is measured in
a process of its own, memory is that process's at its most, so small sizes are blurred, and the fused kernel knows no
dropout, so full is full-plain. The figures are kept in a file; the plot is made of it, beside it, anywhere.
"""

import argparse
import gc
import json
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import torch
from rich.console import Console
from rich.table import Table
from torch import Tensor
from transformers import AutoModel

from benchmarks.common import memory_of
from longmatch.encoders.pretrained import locate
from longmatch.lab.baselines.siamese.encoder import TextBatch
from longmatch.lab.baselines.siamese.longformer import LongModel, repeat_positions
from longmatch.lab.encoders.checkpoint import open_checkpoint, open_tokenizer
from longmatch.lab.encoders.flat import DocumentPieces, FlatTokens
from longmatch.lab.papers.colde.encoder import ChunkBatch, ColdeModel
from longmatch.lab.papers.smith.encoder import SmithConfig, SmithModel, bert_config

DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
SPECIALS = (101, 102)
VOCABULARY = 30_522
Step = tuple[Any, Callable[[], Tensor]]  # the model, and a forward pass that ends in the documents' vectors


def pieces(tokens: int, documents: int, size: int) -> FlatTokens:
    """Documents of so many tokens in full pieces, the special tokens of each piece counted."""
    drawn = np.random.default_rng(0).integers(1000, VOCABULARY, (documents * tokens // size, size - 2))
    return FlatTokens.of(list(drawn), SPECIALS)


def smith(tokens: int, documents: int, backbone: bool = False) -> Step:
    """Blocks of 32 tokens."""
    blocks = tokens // 32
    if backbone:
        model = SmithModel.from_backbone(None, block_tokens=32, max_blocks=blocks)
    else:
        inner = bert_config(VOCABULARY, 6, 256, 4, 32).to_dict()
        model = SmithModel(SmithConfig(sentence_level=inner, max_blocks=blocks))
    batch = DocumentPieces(pieces(tokens, documents, 32), torch.full((documents,), blocks)).to(DEVICE)
    return model, lambda: model.encode_batch(batch).documents


def colde(tokens: int, documents: int) -> Step:
    """Chunks of 512 tokens in two sections, or one where there is one chunk."""
    model: Any = ColdeModel.from_backbone(None)
    chunks = tokens // 512
    number = torch.arange(documents * chunks)
    place, half = number % chunks, max(1, chunks // 2)
    batch = ChunkBatch(pieces(tokens, documents, 512), place // half, place % half, number // chunks).to(DEVICE)
    return model, lambda: model.encode_batch(batch).documents


def s_long(tokens: int, documents: int) -> Step:
    """A window over the whole document."""
    model: Any = LongModel.new(None, open_tokenizer(locate(None)), max_tokens=tokens - 2)
    ids = torch.from_numpy(np.random.default_rng(0).integers(1000, VOCABULARY, documents * (tokens - 2)))
    one = torch.ones(documents, dtype=torch.long)
    texts = TextBatch(ids, torch.ones_like(ids).bool(), one * (tokens - 2), one, torch.stack([one, one], 1)).to(DEVICE)
    return model, lambda: model.read(texts, False).vectors


def full(tokens: int, documents: int, kernel: str = "sdpa") -> Step:
    """The backbone over the whole document at once."""
    model: Any = open_checkpoint(AutoModel, locate(None), attn_implementation=kernel)
    table = repeat_positions(model.embeddings.position_embeddings.weight.data, 0, tokens)
    model.embeddings.position_embeddings = torch.nn.Embedding.from_pretrained(table, freeze=False)
    drawn = np.random.default_rng(0).integers(1000, VOCABULARY, (documents, tokens))
    ids, places = torch.from_numpy(drawn).to(DEVICE), torch.arange(tokens, device=DEVICE)[None]
    kinds = torch.zeros_like(ids)
    return model, lambda: model(input_ids=ids, position_ids=places, token_type_ids=kinds).last_hidden_state.mean(1)


MODELS: dict[str, Callable[[int, int], Step]] = {
    "smith": smith,
    "smith-384": lambda tokens, documents: smith(tokens, documents, backbone=True),
    "colde": colde,
    "s-long": s_long,
    "full": full,
    "full-plain": lambda tokens, documents: full(tokens, documents, "eager"),
}


def measure(name: str, tokens: int, documents: int, times: int) -> dict[str, float]:
    """Bytes that a step takes at its most, and seconds; in this process."""
    torch.manual_seed(0)
    model, forward = MODELS[name](tokens, documents)
    model.to(DEVICE).train()
    _wait()
    on_gpu = DEVICE.type == "cuda"
    if on_gpu:  # the peak is counted from here
        torch.cuda.reset_peak_memory_stats()
    else:
        Path("/proc/self/clear_refs").write_text("5")
    before = torch.cuda.memory_allocated() if on_gpu else memory_of(key="VmRSS")

    def step() -> float:
        _wait()
        start = time.perf_counter()
        with torch.autocast(DEVICE.type, torch.bfloat16, enabled=on_gpu, cache_enabled=False):
            vectors = forward()
        vectors.float().square().sum().backward()
        _wait()
        return time.perf_counter() - start

    step()
    peak = torch.cuda.max_memory_allocated() if on_gpu else memory_of(key="VmHWM")
    return {"bytes": peak - before, "seconds": median(step() for _ in range(times))}


def _wait() -> None:
    if DEVICE.type == "cuda":
        torch.cuda.synchronize()


def run(name: str, tokens: int, documents: int, times: int) -> dict[str, Any]:
    """The same, and why where it failed; on a CPU in a process of its own, whose memory begins anew."""
    if DEVICE.type == "cuda":
        try:
            return measure(name, tokens, documents, times)
        except torch.OutOfMemoryError:
            return {"why": "does not fit"}
        finally:
            gc.collect()
            torch.cuda.empty_cache()
    command = [sys.executable, "-m", "benchmarks.memory", "--one", name, str(tokens), str(documents), str(times)]
    said = subprocess.run(command, check=False, capture_output=True, text=True)
    if said.returncode == 0:
        found: dict[str, Any] = json.loads(said.stdout.splitlines()[-1])
        return found
    scarce = "OutOfMemory" in said.stderr or said.returncode < 0
    return {"why": "does not fit" if scarce else said.stderr.strip().splitlines()[-1][:40]}


def show(found: dict[str, dict[int, dict[str, Any]]], sizes: Sequence[int], where: str) -> None:
    """Two tables."""
    console = Console(width=140)
    console.print(where)
    for title, key, unit in (("peak MB", "bytes", 1e-6), ("seconds", "seconds", 1.0)):
        table = Table(title, *(f"{size:,}" for size in sizes))
        for name, row in found.items():
            values = [row[size].get("why", unit * row[size].get(key, 0.0)) for size in sizes]
            digits = ",.0f" if key == "bytes" else ".3f"
            table.add_row(name, *(value if isinstance(value, str) else f"{value:{digits}}" for value in values))
        console.print(table)


def plot(found: dict[str, dict[str, dict[str, Any]]], path: Path, where: str) -> None:
    """Memory and time against tokens, both axes logarithmic."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 4.2), layout="constrained")
    panels = ("peak GB", "bytes", 1e-9), ("seconds", "seconds", 1.0)
    for axes, (label, key, unit) in zip(figure.subplots(1, 2), panels, strict=True):
        for name, row in found.items():
            points = [(int(size), one[key] * unit) for size, one in row.items() if key in one and one[key] > 0]
            axes.plot(*zip(*points, strict=True), marker="o", markersize=3, label=name)
        sizes = sorted({int(size) for row in found.values() for size in row})
        axes.set(xscale="log", yscale="log", xlabel="tokens of a document", ylabel=label)
        axes.set_xticks(sizes, [f"{size:,}" for size in sizes])
        axes.minorticks_off()
        axes.grid(alpha=0.3)
    figure.axes[0].legend(frameon=False)
    figure.suptitle(where)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path)


def main(words: Sequence[str]) -> None:
    """Measure what was asked for."""
    if words[:1] == ["--one"]:  # the process that measures
        name, *numbers = words[1:]
        print(json.dumps(measure(name, *map(int, numbers))))
        return
    gpu = DEVICE.type == "cuda"
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tokens", type=int, nargs="+", default=[512, 1024, 2048, 4096, 8192, 16384])
    parser.add_argument("--documents", type=int, default=4 if gpu else 1)
    parser.add_argument("--models", nargs="+", default=list(MODELS), choices=list(MODELS))
    parser.add_argument("--times", type=int, default=5 if gpu else 1)
    parser.add_argument("--out", type=Path, default=None, help="a JSON file for the figures")
    parser.add_argument("--plot", type=Path, default=None, help="such a file; the plot goes beside it")
    options = parser.parse_args(words)
    if options.plot:
        kept = json.loads(options.plot.read_text())
        plot(kept["figures"], options.plot.with_suffix(".svg"), kept["where"])
        return
    found = {
        name: {size: run(name, size, options.documents, options.times) for size in options.tokens}
        for name in options.models
    }
    device = torch.cuda.get_device_name() if gpu else f"CPU, {torch.get_num_threads()} threads"
    where = f"One training step over {options.documents} documents: {device}, torch {torch.__version__.split('+')[0]}"
    show(found, options.tokens, where)
    if options.out:
        options.out.write_text(json.dumps({"where": where, "figures": found}, indent=1) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
