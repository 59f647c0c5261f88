"""Indexing on a Ray cluster while a worker is killed, against one machine: the same library? and at what rate?

    python -m benchmarks.distributed DATA [--documents 2000] [--words 300] [--nodes 2] [--cpus 1] [--worker-gpus 0.5]

DATA is a folder of the catalogue; each document is cut to its first `--words` words. The cluster's machines are
processes on this one, of `--cpus` processors each. One worker is killed (SIGKILL) after a fifth of the documents. Then
ids, texts, vectors and rankings are compared with those of a library made without Ray. With a GPU, the machines share
it, and each worker has `--worker-gpus` of one. `--no-kill` and `--only-ray` are for measuring rates.
"""

import argparse
import json
import logging
import os
import signal
import tempfile
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from longmatch.default.matcher import HybridMatcher
from longmatch.distributed.cluster import WorkerResources
from longmatch.distributed.indexing import RayBackend
from longmatch.documents.read import read_all
from longmatch.lab.datasets.collection import DataFolder
from longmatch.library.indexing import IndexingProgress
from longmatch.library.library import Library

ALIKE = 0.999  # cosine of a vector encoded in another batch, in bfloat16


def make_and_note(notes: Path) -> HybridMatcher:
    """The default matcher; the process that makes it is noted, so that it can be killed."""
    (notes / str(os.getpid())).touch()
    return HybridMatcher()


def write(data: Path, to: Path, count: int, words: int) -> None:
    """Documents of a data folder, cut, each with a name of its own; taken again where there are too few."""
    documents = list(read_all(DataFolder(data).documents_file, print))
    with to.open("w", encoding="utf-8") as file:
        for number in range(count):
            document, again = documents[number % len(documents)], number // len(documents)
            parts = document.text.split(" ")[again * words : (again + 1) * words] or document.text.split(" ")[:words]
            text = " ".join(parts)
            file.write(json.dumps({"id": f"{document.id}~{again}", "title": document.title, "text": text}) + "\n")


def start(nodes: int, cpus: int) -> Any:
    """A cluster of so many machines on this one; all see its GPUs, the first is given them."""
    import ray
    import torch
    from ray.cluster_utils import Cluster

    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "num_gpus": 0, "include_dashboard": False})
    for node in range(nodes):
        cluster.add_node(num_cpus=cpus, num_gpus=0 if node else torch.cuda.device_count())
    ray.init(cluster.address, log_to_driver=False, logging_level=logging.ERROR)
    return cluster


class Watch:
    """Kills one worker when a fifth is done, and measures from the first step to the last."""

    def __init__(self, notes: Path, at: int | None) -> None:
        self.notes, self.at, self.killed = notes, at, ""
        self.marks: list[tuple[float, int, int]] = []

    def __call__(self, standing: IndexingProgress) -> None:
        """Told after every step."""
        self.marks.append((time.monotonic(), standing.documents, standing.tokens))
        if self.at is not None and not self.killed and standing.documents >= self.at:
            self.killed = next(self.notes.iterdir()).name
            os.kill(int(self.killed), signal.SIGKILL)

    @property
    def rates(self) -> tuple[float, float]:
        """Documents and tokens a second while workers were busy, their start left out."""
        began = next(mark for mark in self.marks if mark[1])
        ended = next(mark for mark in self.marks if mark[1] == self.marks[-1][1])
        seconds = ended[0] - began[0] or 1e-9
        return (ended[1] - began[1]) / seconds, (ended[2] - began[2]) / seconds


def differences(ours: Library, theirs: Library) -> Iterator[str]:
    """What is not the same in two libraries."""
    if list(ours) != list(theirs):
        yield f"ids: {len(set(ours) ^ set(theirs))} are in one only"
        return
    texts = [{document.id: document.text for document in library.documents} for library in (ours, theirs)]
    yield from (f"the text of {id}" for id in texts[0] if texts[0][id] != texts[1][id])
    columns = ["id", "vectors", "offsets", "hash"]
    width = ours.store.model.width
    for start_at in range(0, len(ours), 256):
        ids = list(texts[0])[start_at : start_at + 256]
        for a, b in zip(*(library.store.fetch(ids, columns) for library in (ours, theirs)), strict=True):
            x, y = (row.array("vectors").astype(np.float32).reshape(-1, width) for row in (a, b))
            if a.value("hash") != b.value("hash") or x.shape != y.shape or (x * y).sum(1).min() < ALIKE:
                yield f"the vectors of {a.id}"
    for id in sorted(texts[0])[:: max(1, len(texts[0]) // 100)]:
        first, second = ([(hit.id, hit.score) for hit in library.rank(id)] for library in (ours, theirs))
        apart = [abs(a[1] - b[1]) for a, b in zip(first, second, strict=True)]
        if max(apart) > 2e-3 or len({a for a, _ in first} ^ {b for b, _ in second}) > 2:
            yield f"the ranking for {id}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--documents", type=int, default=2_000)
    parser.add_argument("--words", type=int, default=300)
    parser.add_argument("--nodes", type=int, default=2)
    parser.add_argument("--cpus", type=int, default=1)
    parser.add_argument("--worker-cpus", type=float, default=1.0)
    parser.add_argument("--worker-gpus", type=float)
    parser.add_argument("--no-kill", action="store_true")
    parser.add_argument("--only-ray", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="distributed-") as place:
        run(options, Path(place))


def run(options: argparse.Namespace, place: Path) -> None:
    """Index both ways and compare."""
    import ray

    notes = place / "notes"
    notes.mkdir()
    rows = place / "rows.jsonl"
    write(options.data, rows, options.documents, options.words)
    cluster = start(options.nodes, options.cpus)
    resources = WorkerResources(options.worker_cpus, options.worker_gpus)
    watch = Watch(notes, None if options.no_kill else options.documents // 5)
    ours = Library(place / "cluster")
    began = time.monotonic()
    done = ours.add(
        rows, progress=watch, backend=RayBackend(resources=resources, make_matcher=partial(make_and_note, notes))
    )
    total = time.monotonic() - began
    documents, tokens = watch.rates
    workers = len(list(notes.iterdir()))
    print(
        f"cluster: {len(done.added):,} documents in {total:.0f} s; {workers} workers, killed: {watch.killed or 'none'}"
    )
    print(f"while they work: {documents:.1f} documents, {tokens:,.0f} tokens a second")
    print(f"commit and index: {began + total - watch.marks[-1][0]:.1f} s", flush=True)
    ray.shutdown()
    cluster.shutdown()
    if options.only_ray:
        return
    alone = Library(place / "alone")
    began = time.monotonic()
    alone.add(rows)
    print(f"one machine: {len(alone):,} documents in {time.monotonic() - began:.0f} s")
    found = list(differences(ours, alone))
    print("\n".join(found[:20]) or f"equal: ids, texts, vectors and rankings of {len(alone):,} documents")
    if found:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
