"""Time the ways of a workload in turn."""

import time
import traceback
from collections.abc import Callable, Sequence
from functools import partial
from statistics import median
from typing import Any

import torch
from torch import Tensor

from benchmarks.papers.gpu.workload import DEVICE, ON_GPU, Clock, Sizes, Workload

MIN_ROUNDS = 3  # even when the time is up


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
    workload: Workload, ways: Sequence[str], rate: float, clock: Clock, rounds: int, save: Callable[[Any], None]
) -> None:
    """Run each way once to warm up, then in turn until the time or the rounds are over; `save` after each step."""
    rows: dict[str, Any] = {way: {"seconds": []} for way in ways}
    results = {**workload.facts, "ways": rows}
    reference: Tensor | None = None
    for way, row in rows.items():
        try:
            row.update(first_run(workload, way))
            vectors = workload.vectors(way)
            reference = vectors if reference is None else reference
            row["least_cosine"] = float(torch.cosine_similarity(vectors.double(), reference.double()).min())
        except Exception as error:
            record_failure(row, error)
        save(results)
    for turn in range(rounds):
        if turn >= MIN_ROUNDS and clock.left < 0:
            break
        for way, row in rows.items():
            if "error" not in row:
                try:
                    row["seconds"].append(timed_once(partial(workload.run, way), workload.in_a_row))
                except Exception as error:
                    record_failure(row, error)
        summarise(workload, rows, rate)
        save(results)
    compare_gradients(workload, rows)
    save(results)


def first_run(workload: Workload, way: str) -> dict[str, float]:
    """Seconds of the first run, compilation included, and peak memory."""
    if ON_GPU:
        torch.cuda.reset_peak_memory_stats()
    seconds = {"first_seconds": timed_once(partial(workload.run, way))}
    return seconds | ({"peak_gb": torch.cuda.max_memory_allocated() / 1e9} if ON_GPU else {})


def summarise(workload: Workload, rows: dict[str, Any], rate: float) -> None:
    """Add throughput to each row, as a share of the matrix rate and as a multiple of padded batches."""
    for row in rows.values():
        if row["seconds"]:
            typical = median(row["seconds"])
            row |= {"tokens_a_second": workload.tokens / typical, "share": workload.work / typical / rate}
    base = rows.get("padded", {}).get("tokens_a_second")
    for row in rows.values():
        if base and "tokens_a_second" in row:
            row["times"] = row["tokens_a_second"] / base


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
            row["gradient_error"] = "".join(traceback.format_exception(error))[-1_000:]


def timed(run: Callable[[], object], times: int) -> list[float]:
    """Seconds of each of `times` runs, after one uncounted."""
    return [timed_once(run) for _ in range(times + 1)][1:]


def timed_once(run: Callable[[], object], in_a_row: int = 1) -> float:
    """Seconds per run, over `in_a_row` runs without a wait between them."""
    wait()
    start = time.perf_counter()
    for _ in range(in_a_row):
        run()
    wait()
    return (time.perf_counter() - start) / in_a_row


def wait() -> None:
    """Until the GPU has finished all its work."""
    if ON_GPU:
        torch.cuda.synchronize()


def record_failure(row: dict[str, Any], error: Exception) -> None:
    """Keep the end of the traceback."""
    row["error"] = "".join(traceback.format_exception(error))[-2_000:]


def is_usable() -> bool:
    """Whether the GPU still works in this process; some errors leave it unusable."""
    try:
        wait()
        return True
    except RuntimeError:
        return False
