"""Profile a run: the longest kernels, how busy the GPU is, and what it waits for."""

import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import profiler
from torch.profiler import ProfilerActivity

from benchmarks.papers.gpu.workload import ON_GPU, Workload, timed_once, wait

SYNCHRONISING = ("Synchronize", "aten::item", "aten::_local_scalar_dense", "aten::nonzero", "cudaHostAlloc")
ROWS = 25  # of a table


@dataclass(frozen=True)
class Span:
    """A profiled event: its name, start and end in microseconds."""

    name: str
    start: float
    end: float


def profile(workload: Workload, way: str) -> dict[str, Any]:
    """Profile one run twice: GPU only, which costs little, then with the CPU too."""
    device = [ProfilerActivity.CUDA] if ON_GPU else []
    seconds: list[float] = []

    def run(activities: list[ProfilerActivity]) -> Any:
        with profiler.profile(activities=activities) as trace:
            seconds.append(timed_once(lambda: workload.run(way)))
            wait()
        return trace

    if ON_GPU:
        workload.run(way)  # the profiler's own setup is not counted
    gpu_only = run(device or [ProfilerActivity.CPU])
    kernels = spans(gpu_only, ON_GPU)
    covered = busy(kernels)
    result: dict[str, Any] = {
        "ms": round(1e3 * seconds[0], 2),
        "busy_ms": round(covered / 1e3, 2),
        "busy": round(covered / 1e6 / seconds[0], 3),
        "launches": len(kernels),
        "kernels": longest(kernels),
    }
    both = run([ProfilerActivity.CPU, *device])
    host = spans(both, on_gpu=False)
    result["ms_watched"] = round(1e3 * seconds[1], 2)
    result["processor"] = by_self_time(both)
    result["waits"] = [row for row in longest(host, 200) if any(word in row["name"] for word in SYNCHRONISING)]
    result["gaps"] = gaps(spans(both, ON_GPU), host)
    result["asks"] = synchronisations(workload, way)
    return result


def synchronisations(workload: Workload, way: str) -> list[str]:
    """The lines of code at which the CPU waits for the GPU."""
    if not ON_GPU:
        return []
    torch.cuda.set_sync_debug_mode("warn")
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            workload.run(way)
    finally:
        torch.cuda.set_sync_debug_mode("default")
    places = Counter(f"{'/'.join(Path(warning.filename).parts[-3:])}:{warning.lineno}" for warning in caught)
    return [f"{place}: {count} times" for place, count in places.most_common(ROWS)]


def spans(trace: Any, on_gpu: bool) -> list[Span]:
    """The events of one device; user annotations, which stand for many kernels, are left out."""
    device = "CUDA" if on_gpu else "CPU"
    return [
        Span(event.name[:120], event.time_range.start, event.time_range.end)
        for event in trace.events()
        if event.device_type.name == device and not getattr(event, "is_user_annotation", False)
    ]


def busy(events: Sequence[Span]) -> float:
    """Microseconds during which at least one event was running."""
    total, reached = 0.0, float("-inf")
    for span in sorted(events, key=lambda span: span.start):
        total += max(0.0, span.end - max(span.start, reached))
        reached = max(reached, span.end)
    return total


def longest(events: Sequence[Span], rows: int = ROWS) -> list[dict[str, Any]]:
    """Total milliseconds and calls by name, longest first."""
    totals: dict[str, tuple[float, int]] = {}
    for span in events:
        spent, calls = totals.get(span.name, (0.0, 0))
        totals[span.name] = spent + span.end - span.start, calls + 1
    order = sorted(totals.items(), key=lambda item: item[1], reverse=True)[:rows]
    return [{"name": name, "ms": round(spent / 1e3, 3), "calls": calls} for name, (spent, calls) in order]


def by_self_time(trace: Any) -> list[dict[str, Any]]:
    """CPU self time by name, longest first."""
    spent: Callable[[Any], float] = lambda event: event.self_cpu_time_total  # noqa: E731
    order = sorted(trace.key_averages(), key=spent, reverse=True)[:ROWS]
    return [{"name": event.key[:120], "ms": round(spent(event) / 1e3, 3), "calls": event.count} for event in order]


def gaps(kernels: Sequence[Span], host: Sequence[Span], rows: int = 12) -> list[dict[str, Any]]:
    """The longest times without a kernel: between which two, and what the CPU did for most of it."""
    idle, reached, before = [], float("inf"), ""
    for span in sorted(kernels, key=lambda span: span.start):
        if span.start > reached:
            idle.append((span.start - reached, Span(f"{before[:60]} ... {span.name[:60]}", reached, span.start)))
        if span.end > reached or reached == float("inf"):
            reached, before = span.end, span.name
    found = []
    for wide, gap in sorted(idle, key=lambda gap: gap[0], reverse=True)[:rows]:
        overlaps = [(min(gap.end, span.end) - max(gap.start, span.start), span) for span in host]
        # the longest overlaps; of equal ones the shortest event, which is the innermost
        order = sorted((-width, span.end - span.start, span.name) for width, span in overlaps if width > 0)
        meanwhile = [f"{name}: {-width / 1e3:.3f} ms" for width, _, name in order[:4]]
        found.append({"between": gap.name, "ms": round(wide / 1e3, 3), "meanwhile": meanwhile})
    return found
