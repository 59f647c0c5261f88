"""Files become documents in several processes, in order, at most some files ahead of the consumer."""

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
from longmatch.library.files import SourceFile

FILES_PER_PROCESS = 6  # fewer are read sooner than a process starts
AHEAD = 8  # files read ahead, per process

Result = Document | ReadError


@dataclass
class FileRead:
    """A file and an iterator over its documents; `problems` is complete once that is exhausted."""

    file: SourceFile
    documents: Iterator[Document]
    problems: list[ReadError] = field(default_factory=list)


def read_files(files: Sequence[SourceFile], processes: int | None = None) -> Iterator[FileRead]:
    """Read files in order. JSON Lines files, which may be large, are streamed in this process."""
    single = [file for file in files if not file.is_json_lines]
    workers = min(processes or os.cpu_count() or 1, max(1, len(single) // FILES_PER_PROCESS))
    results = _parallel(single, workers) if workers > 1 else map(_read, single)
    for file in files:
        yield _stream(file) if file.is_json_lines else _single(file, next(results))


def _read(file: SourceFile) -> Result:
    try:
        return read(file.path, file.id)
    except ReadError as error:
        return error


def _single(file: SourceFile, result: Result) -> FileRead:
    if isinstance(result, ReadError):
        return FileRead(file, iter(()), [result])
    return FileRead(file, iter((result,)))


def _stream(file: SourceFile) -> FileRead:
    from longmatch.documents.jsonl import iterate_jsonl

    stream = FileRead(file, iter(()))

    def documents() -> Iterator[Document]:
        try:
            yield from iterate_jsonl(file.path, stream.problems.append)
        except ReadError as error:
            stream.problems.append(error)

    stream.documents = documents()
    return stream


def _parallel(files: Sequence[SourceFile], workers: int) -> Iterator[Result]:
    """The results in order. A file that crashes its process is reported, and the others are read again without it."""
    waiting: deque[tuple[SourceFile, Future[Result]]] = deque()
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


def _alone(file: SourceFile) -> Result:
    """Read a file in a separate process, which may crash."""
    pool = _pool(1)
    try:
        result: Result = pool.submit(_read, file).result()
    except BrokenProcessPool:
        return ReadError(file.path, "made its reader crash", "It is damaged in a way no reader survives; leave it out.")
    finally:
        pool.shutdown(wait=False, kill_workers=True)
    return result


def _pool(workers: int) -> Any:
    """Processes that do not rerun the caller's script, as those of the standard library would."""
    from joblib.externals.loky import ProcessPoolExecutor

    return ProcessPoolExecutor(workers, timeout=300, env={"OMP_WAIT_POLICY": "PASSIVE", "OMP_NUM_THREADS": "1"})
