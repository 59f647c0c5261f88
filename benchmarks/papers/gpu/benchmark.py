"""GPU utilisation of encoding and of training CoLDE and SMITH, compared with padded batches.

    python -m benchmarks.papers.gpu --make TEXT.npz DATA_FOLDER
    python -m benchmarks.papers.gpu TEXT.npz --out gpu.json [--seconds 170] [--max-tokens 6144]
        [--only rates,encode,colde,smith,profile] [--compare padded,packed,kernels]

The same documents, the same weights, bfloat16, in one process; the ways of reading take turns:

- padded: the Hugging Face model over batches as a plain collator makes them. To encode: sentences in document order,
  padded to the longest of their batch. To train: each document padded to the most chunks (or blocks) of its batch, each
  of those to the longest; as many documents at a time as the GPU holds, as for the other ways;
- sorted: the same model over pieces of similar length (LONGMATCH_PACKED=0);
- packed: no padding, torch's kernels (LONGMATCH_KERNELS=0);
- kernels: no padding, our own kernels: the default.

Tokens per second are real tokens. The share is the work these need (two operations per weight and token, four per pair
of tokens in attention and unit of width, three times that to train) relative to the rate of the best large bfloat16
matrix product, measured first. A training step is a forward pass, a backward pass and the optimizer's; four follow each
other. Where the packaged MiniLM is not installed, random weights of its size replace it.

The profile of one run of each part says how long the GPU was busy, which kernels took longest, what the CPU did, what
it waited for, and what happened in the longest times without a kernel.

Each way of each part runs on its own: a failure is recorded and the next goes on, in a new process where the GPU has
become unusable. The file is written after every step.
"""

import argparse
import gc
import json
import subprocess
import sys
import time
import traceback
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import torch
from rich.console import Console
from rich.table import Table
from torch import Tensor

from benchmarks.papers.gpu.profiling import profile
from benchmarks.papers.gpu.workload import (
    DEVICE,
    ON_GPU,
    WAYS,
    Sizes,
    Workload,
    colde,
    encoding,
    smith,
    timed,
    timed_once,
    wait,
)
from longmatch.documents.document import Document
from longmatch.encoders.backbone import Backbone
from longmatch.units import Tokens, tokenize

MIN_ROUNDS = 3  # even when the time is up
PARTS = ("rates", "encode", "colde", "smith", "profile")
PROFILED = "kernels"
WORKLOADS: dict[str, Callable[[list[Tokens], Sizes], Workload]] = {"encode": encoding, "colde": colde, "smith": smith}


def measure_all(options: argparse.Namespace, sizes: Sizes) -> None:
    """Measure part after part; the file is written after each step."""
    end, out = time.perf_counter() + options.seconds, Path(options.out)
    results: dict[str, Any] = json.loads(out.read_text()) if options.goes_on and out.exists() else {}
    results |= {"device": torch.cuda.get_device_name() if ON_GPU else "CPU", "torch": torch.__version__}
    parts, documents = list(options.only), read_texts(options.text)
    with_profile = "profile" in parts
    messages: list[str] = results.setdefault("warnings", [])
    warnings.showwarning = lambda message, *_: messages.append(str(message)[:500])

    def save(name: str, result: Any) -> None:
        results[name] = result
        out.write_text(json.dumps(results, indent=1) + "\n")

    while parts:
        part = parts.pop(0)
        try:
            if part == "rates" or (part != "profile" and "rates" not in results):
                save("rates", matrix_rates(sizes))
            if part in WORKLOADS:
                rest = 1 + sum(other in WORKLOADS for other in parts)
                workload = WORKLOADS[part](documents, sizes)
                share, best = 0.7 * (end - time.perf_counter()) / rest, results["rates"]["best"]
                measure(workload, options.compare, best, share, sizes.rounds, partial(save, part))
                if with_profile and is_usable():
                    way = PROFILED if PROFILED in options.compare else options.compare[-1]
                    save(f"{part} profile", profile(workload, way))
        except Exception as error:
            save(f"{part} failed", {"error": end_of(error)})
        workload = None  # type: ignore[assignment]
        gc.collect()
        if not is_usable() and parts:  # the remaining parts are measured in a new process
            command = [sys.executable, "-m", "benchmarks.papers.gpu", str(options.text), "--out", str(out), "--goes-on"]
            command += ["--seconds", f"{end - time.perf_counter():.0f}", "--max-tokens", str(options.max_tokens)]
            command += ["--only", ",".join(parts), "--compare", ",".join(options.compare)]
            subprocess.run(command, check=False)
            return
        if ON_GPU:
            torch.cuda.empty_cache()
    show(results)


def show(results: dict[str, Any]) -> None:
    """Print the results as a table."""
    console = Console(width=120)
    if "rates" in results:
        best, copied = results["rates"]["best"] / 1e12, results["rates"]["copied bytes"] / 1e12
        console.print(f"{results['device']}, torch {results['torch']}: {best:.1f} TFLOP/s, {copied:.2f} TB/s")
    table = Table("work", "way", "tokens per second", "times", "share of the matrix rate", "peak GB", "least cosine")
    for part in WORKLOADS:
        for way, row in results.get(part, {}).get("ways", {}).items():
            if "tokens_a_second" in row:
                times, peak, cosine = row.get("times"), row.get("peak_gb"), row.get("least_cosine")
                numbers = [f"{row['tokens_a_second']:,.0f}", f"{times:.2f}" if times else ""]
                numbers += [f"{100 * row['share']:.1f} %", f"{peak:.1f}" if peak else ""]
                table.add_row(part, way, *numbers, f"{cosine:.5f}" if cosine is not None else "")
            else:
                table.add_row(part, way, row.get("error", "not measured").strip().splitlines()[-1])
    console.print(table)
    for part in WORKLOADS:
        profiled = results.get(f"{part} profile")
        if profiled:
            console.print(f"{part}: the GPU is busy for {profiled['busy_ms']:.1f} of {profiled['ms']:.1f} ms")


def main(arguments: Sequence[str]) -> None:
    """Write the texts, or measure."""
    if arguments[:1] == ["--make"]:
        write_texts(Path(arguments[1]), Path(arguments[2]))
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    listed = {"type": lambda value: tuple(value.split(","))}
    parser.add_argument("text", type=Path)
    parser.add_argument("--out", type=Path, default=Path("gpu.json"))
    parser.add_argument("--seconds", type=float, default=170)
    parser.add_argument("--only", default=PARTS, **listed)  # type: ignore[arg-type]
    parser.add_argument("--compare", default=WAYS, **listed)  # type: ignore[arg-type]
    parser.add_argument("--max-tokens", type=int, default=Sizes.max_tokens, help="of a document, for CoLDE")
    parser.add_argument("--goes-on", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    measure_all(options, Sizes(max_tokens=options.max_tokens))


def matrix_rates(sizes: Sizes) -> dict[str, float]:
    """Operations per second of large matrix products and of MiniLM's own shapes; bytes per second of a copy."""
    dtype, rates = torch.bfloat16 if ON_GPU else torch.float32, {}
    many = 65_536 if ON_GPU else 512
    shapes = {"square": (sizes.product,) * 3, "larger": (2 * sizes.product,) * 3}
    shapes |= {"first products": (many, 384, 1152), "up": (many, 384, 1536), "down": (many, 1536, 384)}
    for name, (rows, inner, columns) in shapes.items():
        a = torch.randn(rows, inner, device=DEVICE, dtype=dtype)
        b = torch.randn(inner, columns, device=DEVICE, dtype=dtype)
        rates[name] = 2 * rows * inner * columns / min(timed(partial(torch.matmul, a, b), 10))
    source = torch.empty(sizes.product**2 * 4, device=DEVICE, dtype=dtype)
    target = torch.empty_like(source)
    seconds = min(timed(lambda: target.copy_(source), 5))
    rates["copied bytes"] = 2 * source.numel() * source.element_size() / seconds
    rates["best"] = max(rates["square"], rates["larger"])
    return rates


def measure(
    workload: Workload, ways: Sequence[str], rate: float, seconds: float, rounds: int, save: Callable[[Any], None]
) -> None:
    """Run each way once to warm up, then in turn until the time or the rounds are over; `save` after each step."""
    end = time.perf_counter() + seconds
    rows: dict[str, Any] = {way: {"seconds": []} for way in ways}
    results = {**workload.facts, "ways": rows}
    reference: Tensor | None = None
    for way, row in rows.items():
        try:
            if ON_GPU:
                torch.cuda.reset_peak_memory_stats()
            row["first_seconds"] = timed_once(partial(workload.run, way))  # compilation included
            if ON_GPU:
                row["peak_gb"] = torch.cuda.max_memory_allocated() / 1e9
            vectors = workload.vectors(way)
            reference = vectors if reference is None else reference
            row["least_cosine"] = float(torch.cosine_similarity(vectors.double(), reference.double()).min())
        except Exception as error:
            row["error"] = end_of(error)
        save(results)
    for turn in range(rounds):
        if turn >= MIN_ROUNDS and time.perf_counter() > end:
            break
        for way, row in rows.items():
            if "error" not in row:
                try:
                    row["seconds"].append(timed_once(partial(workload.run, way), workload.in_a_row))
                except Exception as error:
                    row["error"] = end_of(error)
        for row in rows.values():
            if row["seconds"]:
                typical = median(row["seconds"])
                row["tokens_a_second"], row["share"] = workload.tokens / typical, workload.work / typical / rate
        base = rows.get("padded", {}).get("tokens_a_second")
        for row in rows.values():
            if base and "tokens_a_second" in row:
                row["times"] = row["tokens_a_second"] / base
        save(results)
    compare_gradients(workload, rows)
    save(results)


def compare_gradients(workload: Workload, rows: dict[str, Any]) -> None:
    """Cosine of each way's gradient (no dropout) with the first way's, and whether its dropout is reproducible."""
    reference: Tensor | None = None
    for way, row in rows.items():
        if workload.gradient is None or workload.repeats is None or "error" in row:
            continue
        try:
            row["dropout_repeats"] = workload.repeats(way)
            gradient = workload.gradient(way)
            reference = gradient if reference is None else reference
            row["gradient_cosine"] = float(torch.cosine_similarity(gradient, reference, dim=0))
        except Exception as error:
            row["gradient_error"] = end_of(error, 1_000)


def end_of(error: Exception, characters: int = 2_000) -> str:
    """The end of its traceback."""
    return "".join(traceback.format_exception(error))[-characters:]


def is_usable() -> bool:
    """Whether the GPU still works in this process; some errors leave it unusable."""
    try:
        wait()
        return True
    except RuntimeError:
        return False


def write_texts(path: Path, data: Path, tokens: int = 4_500_000) -> None:
    """Sample documents evenly from a data folder, about `tokens` tokens in all: at most about 10 MB."""
    from longmatch.lab.datasets.collection import DataFolder

    backbone = Backbone.load(device="cpu", precision="float32")
    ids, lengths, counts, total = [], [], [], 0
    folder = DataFolder(data)
    every = max(1, len(folder.ids) // (tokens // 5_000))
    for number, document in enumerate(folder.documents()):
        if number % every == 0 and total < tokens:
            tokenized = tokenize(document, backbone.tokenizer)
            if not len(tokenized):
                continue
            ids.append(tokenized.ids)
            lengths.append(np.diff(tokenized.sentence_offsets))
            counts.append(len(lengths[-1]))
            total += len(tokenized)
    offsets = np.concatenate([[0], np.concatenate(lengths).cumsum()]).astype(np.int32)
    documents = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
    np.savez_compressed(path, tokens=np.concatenate(ids).astype(np.uint16), offsets=offsets, documents=documents)
    print(f"{path}: {len(counts)} documents, {len(offsets) - 1} sentences, {total} tokens")


def read_texts(path: Path) -> list[Tokens]:
    """The documents' tokens; a file without `documents` is split every 200 sentences."""
    with np.load(path) as arrays:
        ids, offsets = arrays["tokens"].astype(np.int64), arrays["offsets"].astype(np.int64)
        ends = arrays["documents"] if "documents" in arrays else [*range(0, len(offsets) - 1, 200), len(offsets) - 1]
    empty, documents = Document("", "", "", ()), []
    for first, last in pairwise(ends):
        sentences = offsets[first : last + 1]
        text, none = ids[sentences[0] : sentences[-1]], np.zeros(last - first, np.int64)
        words = np.ones(len(text), bool)
        documents.append(Tokens(empty, text, np.zeros_like(text), words, sentences - sentences[0], none, none, none))
    return documents
