"""The server under 1, 8 and 32 clients on loopback: rankings a second, how long they take, and whether any fails.

    python -m benchmarks.serve LIBRARY [--clients 1 8 32] [--seconds 20] [--hostile]
    python -m benchmarks.serve LIBRARY --mixed 5 [--clients 32]

`longmatch serve` runs as a process of its own, as a user would start it. Each client asks for the ten documents that
belong with one of the library, passages included, and asks again as soon as it is answered; each asks about another
document in turn, so that no answer was worked out before. Beside it one more client asks every half second whether the
server is well. Every answer is checked: ten hits (or all there are), the best first. With --hostile one more client
uploads files that mean harm (bombs, deep nesting, millions of words, damaged pages), one after another; they must be
refused, or read, and no more.

With --mixed, for so many minutes, so many clients (by default 32) do everything there is to do in turns drawn at
random, and one more adds documents, one after another, to a copy of the library. Nothing may be answered with 500,
every document whose adding was accepted must be in the library in the end, and memory must not grow.
"""

import argparse
import asyncio
import gzip
import io
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import count, cycle
from pathlib import Path
from typing import Any

import httpx
import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.common import memory_of

PDF = Path(__file__).parents[1] / "tests" / "documents" / "pdf" / "fixtures" / "report.pdf"
MB = 1 << 20
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")


K = 10
WARM_UP = 8.0  # seconds
ADDED = "added"  # how the names of files begin that are added


@dataclass
class Measured:
    """What so many clients saw."""

    seconds: float = 0.0
    times: list[float] = field(default_factory=list)  # of each answer
    health: list[float] = field(default_factory=list)
    uploads: int = 0  # of hostile files
    errors: list[str] = field(default_factory=list)


@dataclass
class Mixed:
    """What clients of all kinds saw while documents were added."""

    answers: Counter[tuple[str, int]] = field(default_factory=Counter)  # by question and status; 0 for none
    odd: list[str] = field(default_factory=list)  # answers of 500, and adds that failed
    added: list[str] = field(default_factory=list)  # ids that the server said were added
    accepted: int = 0  # adds
    memory: list[float] = field(default_factory=list)  # MB, of the server and its processes


@contextmanager
def serving(library: Path, *options: str) -> Iterator[tuple[str, int]]:
    """The address and the number of a server process of its own, once it is ready."""
    command = [sys.executable, "-m", "longmatch", "serve", str(library), "--port", "0", "--no-open", *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            address = process.stdout.readline().split(" at ")[-1].strip() + "api/v1"
            while not httpx.get(f"{address}/health", timeout=60).json()["ready"]:
                time.sleep(0.2)
            yield address, process.pid
        finally:
            process.terminate()


def _client(address: str, clients: int) -> httpx.AsyncClient:
    limits = httpx.Limits(max_connections=clients + 2, max_keepalive_connections=clients + 2)
    return httpx.AsyncClient(base_url=address, timeout=120, limits=limits)


async def measure(
    address: str, ids: list[str], clients: int, seconds: float, hostile: Sequence[tuple[str, bytes]] = ()
) -> Measured:
    """Let so many clients ask for so long; the files `hostile` are uploaded meanwhile."""
    found, turn = Measured(), count()
    end = time.perf_counter() + seconds
    async with _client(address, clients) as client:
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


async def mix(address: str, process: int, ids: list[str], clients: int, seconds: float) -> tuple[Mixed, int]:
    """Let so many clients do everything for so long, and one add documents; and how many of them are stored."""
    found, end = Mixed(), time.perf_counter() + seconds
    async with _client(address, clients) as client:
        asking = (_ask_anything(client, ids, random.Random(number), end, found) for number in range(clients))
        await asyncio.gather(_weigh(process, end, found), _add(client, ids, end, found), *asking)
        listed = (await client.get("/documents", params={"limit": 1000, "search": ADDED})).json()["documents"]
    return found, len({document["id"] for document in listed} & set(found.added))


async def _ask_anything(
    client: httpx.AsyncClient, ids: list[str], chance: random.Random, end: float, found: Mixed
) -> None:
    while time.perf_counter() < end:
        what, method, path, named = _question(chance, ids + found.added)
        answer = await _sent(client, found, what, method, path, **named)
        if what == "upload" and answer is not None and answer.status_code == 201:
            uploaded = {"document": answer.json()["upload"], "k": K}
            await _sent(client, found, "rank upload", "GET", "/rank", params=uploaded)


def _question(chance: random.Random, ids: list[str]) -> tuple[str, str, str, dict[str, Any]]:
    """What is asked next: its name, its method, its path, and what goes with it."""
    a, b = chance.sample(ids, 2)
    asked: list[tuple[int, str, str, dict[str, Any]]] = [
        (8, "rank", "/rank", {"document": a, "k": K}),
        (3, "rank where", "/rank", {"document": a, "k": K, "where": f"words > {chance.randint(0, 3000)}"}),
        (3, "compare", "/compare", {"a": a, "b": b}),
        (1, "grid", "/compare/grid", {"a": a, "b": b, "level": "sections"}),
        (4, "document", "/document", {"id": a}),
        (3, "list", "/documents", {"offset": chance.randint(0, len(ids)), "limit": 50}),
        (3, "search", "/documents", {"search": chance.choice(["the", "of", ADDED, "water", "system"])}),
        (1, "map", "/map", {}),
        (1, "library", "/library", {}),
    ]
    weights = [weight for weight, *_ in asked]
    if chance.randrange(sum(weights) + 1) == 0:
        text = {"text": f"The {a} was read with the {b}. " * 20, "title": f"note {chance.random()}"}
        return "upload", "POST", "/uploads", {"json": text}
    _, what, path, named = chance.choices(asked, weights)[0]
    return what, "GET", path, {"params": named}


async def _sent(
    client: httpx.AsyncClient, found: Mixed, what: str, method: str, path: str, **named: Any
) -> httpx.Response | None:
    try:
        answer = await client.request(method, path, **named)
    except httpx.HTTPError as error:
        found.answers[what, 0] += 1
        found.odd.append(f"{what}: {error!r}")
        return None
    found.answers[what, answer.status_code] += 1
    if answer.status_code in (404, 500) or answer.status_code > 503:
        found.odd.append(f"{what}: {answer.status_code}: {answer.text[:200]}")
    return answer


async def _add(client: httpx.AsyncClient, ids: list[str], end: float, found: Mixed) -> None:
    """Add halves of two documents put together, and wait until that is done."""
    chance = random.Random(0)
    while time.perf_counter() < end:
        halves = []
        for id in chance.sample(ids, 2):
            shown = await _sent(client, found, "document", "GET", "/document", params={"id": id})
            sections = shown.json()["sections"] if shown is not None else []
            paragraphs = [paragraph["text"] for section in sections for paragraph in section["paragraphs"]]
            halves += paragraphs[: max(1, len(paragraphs) // 2)]
        name = f"{ADDED} {found.accepted:04}.txt"
        answer = await _sent(client, found, "add", "POST", "/documents", files={"file": (name, "\n\n".join(halves))})
        if answer is None or answer.status_code != 202:
            await asyncio.sleep(1)
            continue
        found.accepted += 1
        standing: dict[str, Any] = {"state": "waiting"}
        while standing["state"] in ("waiting", "running"):
            await asyncio.sleep(0.2)
            standing = (await client.get(f"/jobs/{answer.json()['job']}")).json()
        if standing["state"] == "done":
            found.added.append(standing["result"]["id"])
        else:
            found.odd.append(f"add: {standing}")


async def _weigh(process: int, end: float, found: Mixed) -> None:
    while time.perf_counter() < end:
        found.memory.append(own_memory(process) / 1e6)
        await asyncio.sleep(2)


def own_memory(process: int) -> int:
    """Bytes that a process and those it started hold for themselves, without mapped files."""
    total = 0
    with suppress(OSError):  # it has ended meanwhile
        total += memory_of(process)
        for thread in Path(f"/proc/{process}/task").iterdir():
            total += sum(own_memory(int(child)) for child in (thread / "children").read_text().split())
    return total


def run_mixed(library: Path, clients: int, minutes: float) -> None:
    """Print what a mixed load shows; exit with 1 if it is not well."""
    with tempfile.TemporaryDirectory(prefix="serve-") as place:
        copy = Path(shutil.copytree(library, Path(place) / "library"))
        with serving(copy, "--writable") as (address, process):
            listed = httpx.get(f"{address}/documents", params={"limit": 1000}, timeout=60).json()["documents"]
            ids = [one["id"] for one in listed]
            asyncio.run(measure(address, ids, clients, WARM_UP))
            found, stored = asyncio.run(mix(address, process, ids, clients, 60 * minutes))
    by_status = Counter[int]()
    for (_, status), times in found.answers.items():
        by_status[status] += times
    counts = ", ".join(f"{times:,} of {status}" for status, times in sorted(by_status.items()))
    print(f"{by_status.total():,} answers: {counts}")
    for (what, status), times in sorted(found.answers.items()):
        print(f"  {what} {status}: {times:,}")
    print(f"{stored:,} stored of {found.accepted:,} adds")
    third = max(1, len(found.memory) // 3)
    parts = found.memory[:third], found.memory[third : 2 * third], found.memory[2 * third :]
    start, middle, end = (f"{np.median(part or [0.0]):,.0f}" for part in parts)
    print(f"memory: {start} MB in the first third, {middle} in the second, {end} in the last")
    print("\n".join(found.odd[:10]))
    sys.exit(bool(found.odd) or stored != found.accepted)


def hostile_files(seed: int = 0) -> list[tuple[str, bytes]]:
    """Names and contents, in an order in which every second is a PDF, each damaged differently."""
    chance = random.Random(seed)
    fixed = {
        "bomb.jsonl.gz": gzip.compress(b'{"text": "' + b"The river rose. " * (128 * MB // 16) + b'"}'),
        "bomb.docx": _zipped("word/document.xml", b"<a>" * (20 * MB)),
        "bomb.epub": _zipped("META-INF/container.xml", b"<a>" * (20 * MB)),
        "nested.html": b"<div>" * 500_000,
        "brackets.md": b"[" * 20_000,
        "groups.rtf": b"{\\rtf1" + b"{\\b" * 500_000,
        "words.txt": b"many short words " * (24 * MB // 17),
        "one-word.txt": b"x" * (24 * MB),
    }
    pdf = PDF.read_bytes()
    files = []
    for file in fixed.items():
        damaged = bytearray(pdf)
        for _ in range(40):
            damaged[chance.randrange(len(pdf))] = chance.randrange(256)
        files += [file, ("damaged.pdf", bytes(damaged))]
    return files


def _zipped(member: str, content: bytes) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(member, content)
    return packed.getvalue()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library", type=Path)
    parser.add_argument("--clients", type=int, nargs="*", help="by default 1, 8 and 32 in turn; with --mixed 32")
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--hostile", action="store_true", help="upload files that mean harm meanwhile")
    parser.add_argument("--mixed", type=float, metavar="MINUTES", help="everything at once while documents are added")
    options = parser.parse_args()
    if options.mixed:
        run_mixed(options.library, (options.clients or [32])[0], options.mixed)
    clients_in_turn = options.clients or [1, 8, 32]
    hostile = hostile_files() if options.hostile else []
    health = "health: median", "95th percentile", "slowest ms"
    table = Table("clients", "requests", "a second", "median ms", "95th percentile ms", *health, "hostile", "errors")
    with serving(options.library) as (address, _):
        listed = httpx.get(f"{address}/documents", params={"limit": 1000, "sort": "id"}, timeout=60).json()
        ids = [document["id"] for document in listed["documents"]]
        asyncio.run(measure(address, ids, max(clients_in_turn), WARM_UP))  # everything is open and warm
        for clients in clients_in_turn:
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
