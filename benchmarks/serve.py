"""The server under 1, 8 and 32 clients on loopback: rankings a second, how long they take, and whether any fails.

    python benchmarks/serve.py LIBRARY [--clients 1 8 32] [--seconds 20] [--hostile]

`longmatch serve` runs as a process of its own, as a user would start it. Each client asks for the ten documents that
belong with one of the library, passages included, and asks again as soon as it is answered; each asks about another
document in turn, so that no answer was worked out before. Beside it one more client asks every half second whether the
server is well. Every answer is checked: ten hits (or all there are), the best first. With --hostile one more client
uploads files that mean harm (benchmarks/hostile.py), one after another; they must be refused, or read, and no more.
"""

import argparse
import asyncio
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count, cycle
from pathlib import Path

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

import httpx
import numpy as np
from hostile import hostile_files
from rich.console import Console
from rich.table import Table

K = 10
WARM_UP = 8.0  # seconds


@dataclass
class Measured:
    """What so many clients saw."""

    seconds: float = 0.0
    times: list[float] = field(default_factory=list)  # of each answer
    health: list[float] = field(default_factory=list)
    uploads: int = 0  # of hostile files
    errors: list[str] = field(default_factory=list)


@contextmanager
def serving(library: Path) -> Iterator[str]:
    """The address of a server of its own."""
    command = [sys.executable, "-m", "longmatch", "serve", str(library), "--port", "0", "--no-open"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield process.stdout.readline().split(" at ")[-1].strip() + "api/v1"
        finally:
            process.terminate()


def wait_until_ready(address: str) -> None:
    while not httpx.get(f"{address}/health", timeout=60).json()["ready"]:
        time.sleep(0.2)


async def measure(
    address: str, ids: list[str], clients: int, seconds: float, hostile: Sequence[tuple[str, bytes]] = ()
) -> Measured:
    """Let so many clients ask for so long; the files `hostile` are uploaded meanwhile."""
    found, turn = Measured(), count()
    end = time.perf_counter() + seconds
    limits = httpx.Limits(max_connections=clients + 2, max_keepalive_connections=clients + 2)
    async with httpx.AsyncClient(base_url=address, timeout=120, limits=limits) as client:
        began = time.perf_counter()
        asking = (_ask(client, ids, turn, end, found) for _ in range(clients))
        uploading = [_upload(client, end, found, hostile)] if hostile else []
        await asyncio.gather(_watch(client, end, found), *uploading, *asking)
        found.seconds = time.perf_counter() - began
    return found


async def _ask(client: httpx.AsyncClient, ids: list[str], turn: Iterator[int], end: float, found: Measured) -> None:
    while time.perf_counter() < end:
        id = ids[next(turn) % len(ids)]
        began = time.perf_counter()
        try:
            answer = await client.get("/rank", params={"document": id, "k": K})
        except httpx.HTTPError as error:
            found.errors.append(repr(error))
            continue
        found.times.append(time.perf_counter() - began)
        scores = [hit["score"] for hit in answer.json().get("hits", [])] if answer.status_code == 200 else []
        if len(scores) != min(K, len(ids) - 1) or scores != sorted(scores, reverse=True):
            found.errors.append(f"{answer.status_code}: {answer.text[:100]}")


async def _upload(client: httpx.AsyncClient, end: float, found: Measured, files: Sequence[tuple[str, bytes]]) -> None:
    for name, content in cycle(files):
        if time.perf_counter() >= end:
            return
        answer = await client.post("/uploads", files={"file": (name, content)})
        found.uploads += 1
        if answer.status_code not in (201, 413, 422):
            found.errors.append(f"{name}: {answer.status_code}: {answer.text[:100]}")


async def _watch(client: httpx.AsyncClient, end: float, found: Measured) -> None:
    while time.perf_counter() < end:
        began = time.perf_counter()
        answer = await client.get("/health")
        found.health.append(time.perf_counter() - began)
        if answer.status_code != 200:
            found.errors.append(f"health: {answer.status_code}")
        await asyncio.sleep(0.5)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library", type=Path)
    parser.add_argument("--clients", type=int, nargs="*", default=[1, 8, 32])
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--hostile", action="store_true", help="upload files that mean harm meanwhile")
    options = parser.parse_args()
    hostile = hostile_files() if options.hostile else []
    health = "health: median", "95th percentile", "slowest ms"
    table = Table("clients", "requests", "a second", "median ms", "95th percentile ms", *health, "hostile", "errors")
    with serving(options.library) as address:
        wait_until_ready(address)
        listed = httpx.get(f"{address}/documents", params={"limit": 1000, "sort": "id"}, timeout=60).json()
        ids = [document["id"] for document in listed["documents"]]
        asyncio.run(measure(address, ids, max(options.clients), WARM_UP))  # everything is open and warm
        for clients in options.clients:
            found = asyncio.run(measure(address, ids, clients, options.seconds, hostile))
            middle, late = np.percentile(found.times, [50, 95]) * 1e3
            numbers = f"{len(found.times)}", f"{len(found.times) / found.seconds:.1f}", f"{middle:.0f}", f"{late:.0f}"
            well = (f"{ms:.0f}" for ms in np.percentile(found.health, [50, 95, 100]) * 1e3)
            table.add_row(str(clients), *numbers, *well, str(found.uploads), str(len(found.errors)))
            for error in found.errors[:3]:
                Console().print(error, markup=False)
    Console(width=110).print(f"{listed['total']:,} documents")
    Console(width=110).print(table)


if __name__ == "__main__":
    main()
