"""Files become documents in several processes, in order, a bounded number ahead of where they are needed."""

import os
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from typing import Any

from longmatch.documents.document import Document
from longmatch.documents.read import read
from longmatch.errors import ReadError
from longmatch.library.files import File

FEW = 6  # files that are read sooner here than by processes that must start first
AHEAD = 8  # files read ahead, a process

Result = Document | ReadError


@dataclass
class FileRead:
    """A file and its documents, one at a time; `problems` is complete when they have all been taken."""

    file: File
    documents: Iterator[Document]
    problems: list[ReadError] = field(default_factory=list)


def read_files(files: Sequence[File], processes: int | None = None) -> Iterator[FileRead]:
    """Read files in their order. JSON Lines files, which hold any number of documents, are streamed in this process."""
    single = [file for file in files if not file.is_json_lines]
    workers = min(processes or os.cpu_count() or 1, max(1, len(single) // FEW))
    results = _parallel(single, workers) if workers > 1 else map(_read, single)
    for file in files:
        yield _stream(file) if file.is_json_lines else _whole(file, next(results))


def _read(file: File) -> Result:
    try:
        return read(file.path, file.id)
    except ReadError as error:
        return error


def _whole(file: File, result: Result) -> FileRead:
    if isinstance(result, ReadError):
        return FileRead(file, iter(()), [result])
    return FileRead(file, iter((result,)))


def _stream(file: File) -> FileRead:
    from longmatch.documents.jsonl import iterate_jsonl

    found = FileRead(file, iter(()))

    def documents() -> Iterator[Document]:
        try:
            yield from iterate_jsonl(file.path, found.problems.append)
        except ReadError as error:
            found.problems.append(error)

    found.documents = documents()
    return found


def _parallel(files: Sequence[File], workers: int) -> Iterator[Result]:
    """The results in order. A file at which a process dies is named, and the others are read again without it."""
    waiting: deque[tuple[File, Future[Result]]] = deque()
    rest = deque(files)
    pool = _pool(workers)
    try:
        while rest or waiting:
            while rest and len(waiting) < workers * AHEAD:
                file = rest.popleft()
                waiting.append((file, pool.submit(_read, file)))
            file, future = waiting.popleft()
            try:
                yield future.result()
            except BrokenProcessPool:
                again = [other for other, _ in waiting]
                waiting.clear()
                rest.extendleft(reversed(again))
                yield _alone(file)
                pool = _pool(workers)
    finally:
        pool.shutdown(wait=False, kill_workers=True)


def _alone(file: File) -> Result:
    """Read a file in a process of its own, which may die of it."""
    pool = _pool(1)
    try:
        result: Result = pool.submit(_read, file).result()
    except BrokenProcessPool:
        return ReadError(file.path, "made its reader crash", "It is damaged in a way no reader survives; leave it out.")
    finally:
        pool.shutdown(wait=False, kill_workers=True)
    return result


def _pool(workers: int) -> Any:
    """Processes that do not run the caller's script again, as those of the standard library would."""
    from joblib.externals.loky import ProcessPoolExecutor

    return ProcessPoolExecutor(workers, timeout=300, env={"OMP_WAIT_POLICY": "PASSIVE", "OMP_NUM_THREADS": "1"})
