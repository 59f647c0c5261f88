"""Reading files on the workers; the coordinating process sees only summaries of the documents."""

import socket
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from longmatch.documents.document import Document, content_hash
from longmatch.documents.jsonl import numbered_lines, parse_line
from longmatch.errors import LongmatchError, ReadError
from longmatch.library.files import SourceFile, read_single

BLOCK_FILES, BLOCK_BYTES = 64, 4_000_000  # per block
CRASHED = "It is damaged in a way no reader survives; leave it out."


@dataclass(frozen=True)
class FileBlock:
    """Files to be read by one task, or some lines of a JSON Lines file; the lines are part of the block."""

    files: tuple[SourceFile, ...]
    lines: tuple[tuple[int, bytes], ...] | None = None
    problems: tuple[ReadError, ...] = ()  # with the JSON Lines file as a whole
    last: bool = True  # whether the file ends with this block


@dataclass(frozen=True)
class DocumentSummary:
    """What decides whether a document must be encoded, and under which id."""

    id: str
    hash: str
    characters: int
    position: int  # in its block


@dataclass
class FileSummary:
    """The documents of a file, or of some of its lines, and problems with it."""

    file: SourceFile
    documents: list[DocumentSummary] = field(default_factory=list)
    problems: list[ReadError] = field(default_factory=list)
    last: bool = True
    remarks: list[str] = field(default_factory=list)


def file_blocks(files: Iterable[SourceFile], size: int = BLOCK_BYTES) -> Iterator[FileBlock]:
    """Files in order, in blocks of at most about `size` bytes."""
    pending: list[SourceFile] = []
    for file in files:
        if pending and (
            file.is_json_lines or len(pending) == BLOCK_FILES or sum(f.size for f in [*pending, file]) > size
        ):
            yield FileBlock(tuple(pending))
            pending = []
        if file.is_json_lines:
            yield from _line_blocks(file, size)
        else:
            pending.append(file)
    if pending:
        yield FileBlock(tuple(pending))


def _line_blocks(file: SourceFile, size: int) -> Iterator[FileBlock]:
    lines: list[tuple[int, bytes]] = []
    length, empty = 0, True
    problems: list[ReadError] = []
    try:
        for number, line in numbered_lines(file.path):
            empty = False
            if lines and length + len(line) > size:
                yield FileBlock((file,), tuple(lines), last=False)
                lines, length = [], 0
            lines.append((number, line))
            length += len(line)
    except ReadError as error:
        problems.append(error)
    else:
        if empty:
            problems.append(ReadError(file.path, "is empty", "Leave it out, or put documents in it."))
    yield FileBlock((file,), tuple(lines), tuple(problems))


def read_block(block: FileBlock) -> tuple[list[FileSummary], list[Document]]:
    """Summaries of a block's files, and the documents, which stay on the machine until they are encoded."""
    documents: list[Document] = []
    summaries = (
        [_read_file(file, documents) for file in block.files]
        if block.lines is None
        else [_read_lines(block, documents)]
    )
    return summaries, documents


def _read_file(file: SourceFile, documents: list[Document]) -> FileSummary:
    if not file.path.parent.is_dir():
        raise LongmatchError(
            f"{file.path} does not exist on the machine {socket.gethostname()}. Put the documents where all machines "
            "of the cluster find them under the same path, or into one JSON Lines file, which is read here."
        )
    single = read_single(file)
    if isinstance(single.result, ReadError):
        return FileSummary(file, problems=[single.result], remarks=single.remarks)
    return FileSummary(file, [_summarise(single.result, documents)], remarks=single.remarks)


def _read_lines(block: FileBlock, documents: list[Document]) -> FileSummary:
    file = block.files[0]
    summary = FileSummary(file, last=block.last)
    for number, line in block.lines or ():
        try:
            document = parse_line(line, file.path, number)
        except ReadError as error:
            summary.problems.append(error)
        else:
            if document is not None:
                summary.documents.append(_summarise(document, documents))
    summary.problems += block.problems
    return summary


def _summarise(document: Document, documents: list[Document]) -> DocumentSummary:
    documents.append(document)
    return DocumentSummary(document.id, content_hash(document), len(document.text), len(documents) - 1)


def read_blocks(
    ray: Any, blocks: Iterable[FileBlock], ahead: int, at_once: int
) -> Iterator[tuple[list[FileSummary], Any]]:
    """Summaries of each block, in order, with a Ray reference to its documents.

    Up to `ahead` blocks are read in advance, `at_once` at the same time, as each takes a process.
    """
    # no CPUs reserved: reading never waits for an encoding worker to release one
    reader = ray.remote(num_returns=2, num_cpus=0, max_retries=3)(read_block)
    remaining, queue = iter(blocks), deque[tuple[FileBlock, Any, Any]]()

    def submit(blocks: Sequence[FileBlock], enqueue: Callable[[tuple[FileBlock, Any, Any]], None]) -> None:
        for block in blocks:
            enqueue((block, *reader.remote(block)))

    def has_room() -> bool:
        tasks = [summaries for _, summaries, _ in queue]
        if len(tasks) >= ahead:
            return False
        return not tasks or len(ray.wait(tasks, num_returns=len(tasks), timeout=0)[1]) < at_once

    while True:
        while has_room() and (block := next(remaining, None)) is not None:
            submit([block], queue.append)
        if not queue:
            return
        block, summaries, documents = queue.popleft()
        try:
            yield ray.get(summaries), documents
        except ray.exceptions.RayTaskError:
            raise
        except ray.exceptions.RayError as error:
            retries = _single_files(block, error)
            if isinstance(retries, FileSummary):
                yield [retries], ray.put([])
            else:
                submit(retries[::-1], queue.appendleft)


def _single_files(block: FileBlock, error: Exception) -> list[FileBlock] | FileSummary:
    """Split a block whose reader died into one block per file; a single file is reported instead."""
    if block.lines is not None:
        raise LongmatchError(f"The workers that read {block.files[0].path} died ({type(error).__name__}).") from error
    if len(block.files) > 1:
        return [FileBlock((file,)) for file in block.files]
    file = block.files[0]
    return FileSummary(file, problems=[ReadError(file.path, "made its reader crash", CRASHED)])
