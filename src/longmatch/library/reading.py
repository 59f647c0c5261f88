"""Files become documents in several processes, in order, a bounded number ahead of where they are needed."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from longmatch.documents.document import Document
from longmatch.documents.read import read
from longmatch.errors import ReadError
from longmatch.library.files import File
from longmatch.parallel import parallel_map

FEW = 6  # files per process below which starting it takes longer than reading them here
AHEAD = 8  # files read ahead per process

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
    results = parallel_map(_read, single, workers, chunk=1, ahead=AHEAD, on_crash=_crashed)
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


def _crashed(file: File) -> Result:
    return ReadError(file.path, "made its reader crash", "It is damaged in a way no reader survives; leave it out.")
