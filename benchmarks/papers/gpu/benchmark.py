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
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import torch
from rich.console import Console
from rich.table import Table

from benchmarks.papers.gpu.encoding import encoding
from benchmarks.papers.gpu.profiling import profile
from benchmarks.papers.gpu.texts import read_texts, write_texts
from benchmarks.papers.gpu.timing import is_usable, matrix_rates, measure, record_failure
from benchmarks.papers.gpu.training_steps import colde, smith
from benchmarks.papers.gpu.workload import ON_GPU, WAYS, Clock, Sizes, Workload
from longmatch.units import Tokens

PARTS = ("rates", "encode", "colde", "smith", "profile")
PROFILED = "kernels"
WORKLOADS: dict[str, Callable[[list[Tokens], Sizes], Workload]] = {"encode": encoding, "colde": colde, "smith": smith}


def measure_all(options: argparse.Namespace, sizes: Sizes) -> None:
    """Measure part after part; the file is written after each step."""
    clock, out = Clock(options.seconds), Path(options.out)
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
                share, best = Clock(0.7 * clock.left / rest), results["rates"]["best"]
                measure(workload, options.compare, best, share, sizes.rounds, partial(save, part))
                if with_profile and is_usable():
                    way = PROFILED if PROFILED in options.compare else options.compare[-1]
                    save(f"{part} profile", profile(workload, way))
        except Exception as error:
            row: dict[str, Any] = {}
            record_failure(row, error)
            save(f"{part} failed", row)
        workload = None  # type: ignore[assignment]
        gc.collect()
        if not is_usable() and parts:
            _restart(options, parts, clock.left)
            return
        if ON_GPU:
            torch.cuda.empty_cache()
    show(results)


def _restart(options: argparse.Namespace, parts: Sequence[str], seconds: float) -> None:
    """Measure the remaining parts in a new process."""
    command = [sys.executable, "-m", "benchmarks.papers.gpu", str(options.text), "--out", str(options.out)]
    command += ["--seconds", f"{seconds:.0f}", "--max-tokens", str(options.max_tokens), "--only", ",".join(parts)]
    subprocess.run([*command, "--compare", ",".join(options.compare), "--goes-on"], check=False)


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
