"""How much of a GPU is used: encoding, CoLDE's and SMITH's training, against padded batches.

    python benchmarks/gpu.py --make TEXT.npz DATA_FOLDER
    python benchmarks/gpu.py TEXT.npz --out gpu.json [--seconds 170] [--only rates,encode,colde,smith,profile]
                             [--compare padded,packed,kernels] [--max-tokens 6144]

The same documents, the same weights, bfloat16, in one process, turn by turn, each way of reading once a turn:

- padded: the Hugging Face model over batches as a plain collator makes them. To encode: sentences in their order,
  padded to the longest of their batch. To train: each document padded to the most chunks (or blocks) of its batch, each
  of those to the longest; as many documents at a time as the GPU holds, as in all the others;
- sorted: the same model over pieces of about one length (LONGMATCH_PACKED=0);
- packed: without padding, by torch's kernels (LONGMATCH_KERNELS=0);
- kernels: without padding, by our own: what a run gets.

Tokens a second are real tokens. The share is the work that these need, two operations for each weight of the layers
and each token and four for each pair of tokens in attention and each number of the width, three times that to train,
against the rate of the best large product of bfloat16 matrices, measured first. A step of training is forth, back and
the optimizer's; four follow each other. Where the packaged MiniLM is not installed random weights of its sizes stand in
for it.

Of one run of each part the profile tells how long the GPU was busy, which kernels took longest, what the processor did,
what it waited for, and what went on in the longest times in which the GPU did nothing.

Each way of each part is tried alone: one that fails is noted, and the next goes on; where the GPU itself is left
unusable, in a new process. The file is written after each of them.
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
from on_gpu.encoding import encoding
from on_gpu.job import ON_GPU, Clock, Job, Sizes
from on_gpu.learning import colde, smith
from on_gpu.measuring import failed, is_usable, measure, rates
from on_gpu.profiling import profile
from on_gpu.text import make_text, open_text
from on_gpu.ways import WAYS
from rich.console import Console
from rich.table import Table

from longmatch.units import Tokens

PARTS = ("rates", "encode", "colde", "smith", "profile")
WATCHED = "kernels"
JOBS: dict[str, Callable[[list[Tokens], Sizes], Job]] = {"encode": encoding, "colde": colde, "smith": smith}


def measure_all(options: argparse.Namespace, sizes: Sizes) -> None:
    """Part after part, the file written after each step."""
    clock, out = Clock(options.seconds), Path(options.out)
    told: dict[str, Any] = json.loads(out.read_text()) if options.goes_on and out.exists() else {}
    told |= {"device": torch.cuda.get_device_name() if ON_GPU else "CPU", "torch": torch.__version__}
    wanted, documents = list(options.only), open_text(options.text)
    with_profile = "profile" in wanted
    said: list[str] = told.setdefault("warnings", [])
    warnings.showwarning = lambda message, *_: said.append(str(message)[:500])

    def note(name: str, found: Any) -> None:
        told[name] = found
        out.write_text(json.dumps(told, indent=1) + "\n")

    while wanted:
        part = wanted.pop(0)
        try:
            if part == "rates" or (part != "profile" and "rates" not in told):
                note("rates", rates(sizes))
            if part in JOBS:
                rest = 1 + sum(other in JOBS for other in wanted)
                job = JOBS[part](documents, sizes)
                own, best = Clock(0.7 * clock.left / rest), told["rates"]["best"]
                measure(job, options.compare, best, own, sizes.rounds, partial(note, part))
                if with_profile and is_usable():
                    note(
                        f"{part} profile", profile(job, WATCHED if WATCHED in options.compare else options.compare[-1])
                    )
        except Exception as error:
            row: dict[str, Any] = {}
            failed(row, error)
            note(f"{part} failed", row)
        job = None  # type: ignore[assignment]
        gc.collect()
        if not is_usable() and wanted:
            again = [sys.executable, __file__, str(options.text), "--out", str(out), "--seconds", f"{clock.left:.0f}"]
            again += [
                "--max-tokens",
                str(options.max_tokens),
                "--only",
                ",".join(wanted),
                "--compare",
                ",".join(options.compare),
                "--goes-on",
            ]
            subprocess.run(again, check=False)
            return
        if ON_GPU:
            torch.cuda.empty_cache()
    show(told)


def show(told: dict[str, Any]) -> None:
    """What was measured, as a table."""
    console = Console(width=120)
    if "rates" in told:
        best, copied = told["rates"]["best"] / 1e12, told["rates"]["copied bytes"] / 1e12
        console.print(f"{told['device']}, torch {told['torch']}: {best:.1f} TFLOP/s, {copied:.2f} TB/s")
    table = Table("work", "way", "tokens a second", "times", "share of the matrix rate", "peak GB", "least cosine")
    for part in JOBS:
        for way, row in told.get(part, {}).get("ways", {}).items():
            if "tokens_a_second" in row:
                times, peak, cosine = row.get("times"), row.get("peak_gb"), row.get("least_cosine")
                numbers = [f"{row['tokens_a_second']:,.0f}", f"{times:.2f}" if times else ""]
                numbers += [f"{100 * row['share']:.1f} %", f"{peak:.1f}" if peak else ""]
                table.add_row(part, way, *numbers, f"{cosine:.5f}" if cosine is not None else "")
            else:
                table.add_row(part, way, row.get("error", "not measured").strip().splitlines()[-1])
    console.print(table)
    for part in JOBS:
        seen = told.get(f"{part} profile")
        if seen:
            console.print(f"{part}: the GPU is busy for {seen['busy_ms']:.1f} of {seen['ms']:.1f} ms")


def main(words: Sequence[str]) -> None:
    if words[:1] == ["--make"]:
        make_text(Path(words[1]), Path(words[2]))
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    listed = {"type": lambda said: tuple(said.split(","))}
    parser.add_argument("text", type=Path)
    parser.add_argument("--out", type=Path, default=Path("gpu.json"))
    parser.add_argument("--seconds", type=float, default=170)
    parser.add_argument("--only", default=PARTS, **listed)  # type: ignore[arg-type]
    parser.add_argument("--compare", default=WAYS, **listed)  # type: ignore[arg-type]
    parser.add_argument("--max-tokens", type=int, default=Sizes.most, help="that CoLDE reads of a document")
    parser.add_argument("--goes-on", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args(words)
    measure_all(options, Sizes(most=options.max_tokens))


if __name__ == "__main__":
    main(sys.argv[1:])
