"""Turn by turn, each way once a turn."""

import time
import traceback
from collections.abc import Callable, Sequence
from functools import partial
from statistics import median
from typing import Any

import torch
from torch import Tensor
from training import DEVICE, timed

from on_gpu.job import ON_GPU, Clock, Job, Sizes

LEAST = 3  # rounds, however little time is left


def rates(sizes: Sizes) -> dict[str, float]:
    """Operations a second of large products, and of those of MiniLM's own shapes; bytes a second of a copy."""
    dtype, found = torch.bfloat16 if ON_GPU else torch.float32, {}
    many = 65_536 if ON_GPU else 512
    shapes = {"square": (sizes.product,) * 3, "larger": (2 * sizes.product,) * 3}
    shapes |= {"first products": (many, 384, 1152), "up": (many, 384, 1536), "down": (many, 1536, 384)}
    for name, (rows, inner, columns) in shapes.items():
        a = torch.randn(rows, inner, device=DEVICE, dtype=dtype)
        b = torch.randn(inner, columns, device=DEVICE, dtype=dtype)
        found[name] = 2 * rows * inner * columns / min(timed(partial(torch.matmul, a, b), 10))
    source = torch.empty(sizes.product**2 * 4, device=DEVICE, dtype=dtype)
    target = torch.empty_like(source)
    seconds = min(timed(lambda: target.copy_(source), 5))
    found["copied bytes"] = 2 * source.numel() * source.element_size() / seconds
    found["best"] = max(found["square"], found["larger"])
    return found


def measure(job: Job, ways: Sequence[str], rate: float, clock: Clock, rounds: int, note: Callable[[Any], None]) -> None:
    """Each way once to begin with, then turn by turn until the time or the rounds are over."""
    rows: dict[str, Any] = {way: {"seconds": []} for way in ways}
    told = {**job.facts, "ways": rows}
    reference: Tensor | None = None
    for way, row in rows.items():
        try:
            row.update(first_run(job, way))
            found = job.vectors(way)
            reference = found if reference is None else reference
            row["least_cosine"] = float(torch.cosine_similarity(found.double(), reference.double()).min())
        except Exception as error:
            failed(row, error)
        note(told)
    for turn in range(rounds):
        if turn >= LEAST and clock.left < 0:
            break
        for way, row in rows.items():
            if "error" not in row:
                try:
                    row["seconds"].append(timed_once(partial(job.run, way), job.in_a_row))
                except Exception as error:
                    failed(row, error)
        summarise(job, rows, rate)
        note(told)
    compare_gradients(job, rows)
    note(told)


def first_run(job: Job, way: str) -> dict[str, float]:
    """How long it takes, compiling and all, and how much memory."""
    if ON_GPU:
        torch.cuda.reset_peak_memory_stats()
    found = {"first_seconds": timed_once(partial(job.run, way))}
    return found | ({"peak_gb": torch.cuda.max_memory_allocated() / 1e9} if ON_GPU else {})


def summarise(job: Job, rows: dict[str, Any], rate: float) -> None:
    """Add to each row how fast it is, beside the matrix rate and beside padded batches."""
    for row in rows.values():
        if row["seconds"]:
            typical = median(row["seconds"])
            row |= {"tokens_a_second": job.tokens / typical, "share": job.work / typical / rate}
    base = rows.get("padded", {}).get("tokens_a_second")
    for row in rows.values():
        if base and "tokens_a_second" in row:
            row["times"] = row["tokens_a_second"] / base


def compare_gradients(job: Job, rows: dict[str, Any]) -> None:
    """The cosine of each way's gradient, without dropout, with that of the first; whether dropout repeats itself."""
    first: Tensor | None = None
    for way, row in rows.items():
        if job.gradient is None or job.repeats is None or "error" in row:
            continue
        try:
            row["dropout_repeats"] = job.repeats(way)
            found = job.gradient(way)
            first = found if first is None else first
            row["gradient_cosine"] = float(torch.cosine_similarity(found, first, dim=0))
        except Exception as error:
            row["gradient_error"] = "".join(traceback.format_exception(error))[-1_000:]


def timed_once(run: Callable[[], object], in_a_row: int = 1) -> float:
    """Seconds of a run, of which so many follow each other, as the steps of training do."""
    wait()
    start = time.perf_counter()
    for _ in range(in_a_row):
        run()
    wait()
    return (time.perf_counter() - start) / in_a_row


def wait() -> None:
    """Until the GPU has done all its work."""
    if ON_GPU:
        torch.cuda.synchronize()


def failed(row: dict[str, Any], error: Exception) -> None:
    """Note what went wrong."""
    row["error"] = "".join(traceback.format_exception(error))[-2_000:]


def is_usable() -> bool:
    """Whether the GPU still computes: after some errors it does not, in this process."""
    try:
        wait()
        return True
    except RuntimeError:
        return False
