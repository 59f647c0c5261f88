"""Where the time goes: the kernels that take longest, how long the GPU is busy, and what it waits for."""

import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch.profiler import ProfilerActivity
from torch.profiler import profile as watch

from on_gpu.job import ON_GPU, Job
from on_gpu.measuring import timed_once, wait

SYNCHRONISING = ("Synchronize", "aten::item", "aten::_local_scalar_dense", "aten::nonzero", "cudaHostAlloc")
MANY = 25  # rows of a table


@dataclass(frozen=True)
class Span:
    """Something that took place, from when until when, in microseconds."""

    name: str
    start: float
    end: float


def profile(job: Job, way: str) -> dict[str, Any]:
    """One run watched twice: on the GPU alone, which costs little; then on the processor too."""
    device = [ProfilerActivity.CUDA] if ON_GPU else []
    seconds: list[float] = []

    def run(activities: list[ProfilerActivity]) -> Any:
        with watch(activities=activities) as seen:
            seconds.append(timed_once(lambda: job.run(way)))
            wait()
        return seen

    if ON_GPU:
        job.run(way)  # what the profiler itself sets up is not counted
    alone = run(device or [ProfilerActivity.CPU])
    kernels = spans(alone, ON_GPU)
    covered = busy(kernels)
    found: dict[str, Any] = {
        "ms": round(1e3 * seconds[0], 2),
        "busy_ms": round(covered / 1e3, 2),
        "busy": round(covered / 1e6 / seconds[0], 3),
        "launches": len(kernels),
        "kernels": longest(kernels),
    }
    both = run([ProfilerActivity.CPU, *device])
    host = spans(both, on_gpu=False)
    found["ms_watched"] = round(1e3 * seconds[1], 2)
    found["processor"] = by_own_time(both)
    found["waits"] = [row for row in longest(host, 200) if any(word in row["name"] for word in SYNCHRONISING)]
    found["gaps"] = gaps(spans(both, ON_GPU), host)
    found["asks"] = asks(job, way)
    return found


def asks(job: Job, way: str) -> list[str]:
    """The lines of code at which the processor asks the GPU for something and waits until it has done all its work."""
    if not ON_GPU:
        return []
    torch.cuda.set_sync_debug_mode("warn")
    try:
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            job.run(way)
    finally:
        torch.cuda.set_sync_debug_mode("default")
    places = Counter(f"{'/'.join(Path(one.filename).parts[-3:])}:{one.lineno}" for one in said)
    return [f"{place}: {count} times" for place, count in places.most_common(MANY)]


def spans(seen: Any, on_gpu: bool) -> list[Span]:
    """What a profiler saw, on one of the two; names that stand for many kernels are left out."""
    wanted = "CUDA" if on_gpu else "CPU"
    events = (event for event in seen.events() if event.device_type.name == wanted and not _is_name(event))
    return [Span(event.name[:120], event.time_range.start, event.time_range.end) for event in events]


def _is_name(event: Any) -> bool:
    return bool(getattr(event, "is_user_annotation", False))


def busy(found: Sequence[Span]) -> float:
    """Microseconds in which at least one of them was under way."""
    total, reached = 0.0, float("-inf")
    for span in sorted(found, key=lambda span: span.start):
        total += max(0.0, span.end - max(span.start, reached))
        reached = max(reached, span.end)
    return total


def longest(found: Sequence[Span], most: int = MANY) -> list[dict[str, Any]]:
    """Milliseconds and calls by name, those first that take longest."""
    totals: dict[str, tuple[float, int]] = {}
    for span in found:
        spent, calls = totals.get(span.name, (0.0, 0))
        totals[span.name] = spent + span.end - span.start, calls + 1
    order = sorted(totals.items(), key=lambda item: item[1], reverse=True)[:most]
    return [{"name": name, "ms": round(spent / 1e3, 3), "calls": calls} for name, (spent, calls) in order]


def by_own_time(seen: Any) -> list[dict[str, Any]]:
    """The same for the processor, without what others did in their name."""
    spent: Callable[[Any], float] = lambda event: event.self_cpu_time_total  # noqa: E731
    order = sorted(seen.key_averages(), key=spent, reverse=True)[:MANY]
    return [{"name": event.key[:120], "ms": round(spent(event) / 1e3, 3), "calls": event.count} for event in order]


def gaps(kernels: Sequence[Span], host: Sequence[Span], most: int = 12) -> list[dict[str, Any]]:
    """The longest times in which no kernel ran: between which two, and what the processor did for most of it."""
    found, reached, before = [], float("inf"), ""
    for span in sorted(kernels, key=lambda span: span.start):
        if span.start > reached:
            found.append((span.start - reached, Span(f"{before[:60]} ... {span.name[:60]}", reached, span.start)))
        if span.end > reached or reached == float("inf"):
            reached, before = span.end, span.name
    chosen = sorted(found, key=lambda gap: gap[0], reverse=True)[:most]
    return [
        {"between": gap.name, "ms": round(width / 1e3, 3), "meanwhile": _meanwhile(gap, host)} for width, gap in chosen
    ]


def _meanwhile(gap: Span, host: Sequence[Span], most: int = 4) -> list[str]:
    """What overlaps a gap longest, the shortest of what overlaps equally long: that is the innermost."""
    overlaps = [(min(gap.end, span.end) - max(gap.start, span.start), span) for span in host]
    order = sorted((-width, span.end - span.start, span.name) for width, span in overlaps if width > 0)
    return [f"{name}: {-width / 1e3:.3f} ms" for width, _, name in order[:most]]
