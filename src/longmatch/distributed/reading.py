"""Reading files on the workers; the coordinating process sees only summaries of the documents."""

import socket
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from longmatch.documents.document import Document, content_hash
from longmatch.documents.jsonl import numbered_lines, parse_line
from longmatch.documents.mail import numbered_messages
from longmatch.documents.read import zip_groups
from longmatch.errors import LongmatchError, ReadError, collected_warnings
from longmatch.library.files import (
    MailboxMessage,
    SourceFile,
    ZipGroup,
    crash,
    read_message,
    read_single,
    read_zip_group,
)

BLOCK_FILES, BLOCK_BYTES = 64, 4_000_000  # per block


@dataclass(frozen=True)
class FileBlock:
    """Files to be read by one task; some lines of a JSON Lines file or messages of a mailbox, which are part of the
    block; or some members of a zip file.
    """

    files: tuple[SourceFile, ...]
    lines: tuple[tuple[int, bytes], ...] | None = None
    members: tuple[str, ...] | None = None
    problems: tuple[ReadError, ...] = ()  # with the file as a whole
    last: bool = True  # whether the file ends with this block
    remarks: tuple[str, ...] = ()


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
        is_collection = file.is_collection
        if pending and (is_collection or len(pending) == BLOCK_FILES or sum(f.size for f in [*pending, file]) > size):
            yield FileBlock(tuple(pending))
            pending = []
        if not is_collection:
            pending.append(file)
        else:
            yield from _member_blocks(file) if file.is_zip else _line_blocks(file, size)
    if pending:
        yield FileBlock(tuple(pending))


def _member_blocks(file: SourceFile) -> Iterator[FileBlock]:
    problems: list[ReadError] = []
    groups: list[tuple[str, ...]] = []
    with collected_warnings() as remarks:
        try:
            groups = zip_groups(file.path, problems.append)
        except ReadError as error:
            problems.append(error)
    yield FileBlock((file,), lines=(), problems=tuple(problems), last=not groups, remarks=tuple(remarks))
    for number, names in enumerate(groups, 1):
        yield FileBlock((file,), members=names, last=number == len(groups))


def _line_blocks(file: SourceFile, size: int) -> Iterator[FileBlock]:
    lines: list[tuple[int, bytes]] = []
    length, empty = 0, True
    problems: list[ReadError] = []
    try:
        for number, line in numbered_messages(file.path) if file.is_mailbox else numbered_lines(file.path):
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
    yield FileBlock((file,), tuple(lines), problems=tuple(problems))


def read_block(block: FileBlock) -> tuple[list[FileSummary], list[Document]]:
    """Summaries of a block's files, and the documents, which stay on the machine until they are encoded."""
    documents: list[Document] = []
    if block.lines is not None:
        return [_read_lines(block, documents)], documents
    if block.members is not None:
        return [_read_members(block, documents)], documents
    return [_read_file(file, documents) for file in block.files], documents


def _check_shared(file: SourceFile) -> None:
    if not file.path.parent.is_dir():
        raise LongmatchError(
            f"{file.path} does not exist on the machine {socket.gethostname()}. Put the documents where all machines "
            "of the cluster find them under the same path, or into one JSON Lines file, which is read here."
        )


def _read_file(file: SourceFile, documents: list[Document]) -> FileSummary:
    _check_shared(file)
    single = read_single(file)
    if isinstance(single.result, ReadError):
        return FileSummary(file, problems=[single.result, *single.problems], remarks=single.remarks)
    summaries = [_summarise(document, documents) for document in (single.result, *single.attached)]
    return FileSummary(file, summaries, single.problems, remarks=single.remarks)


def _read_members(block: FileBlock, documents: list[Document]) -> FileSummary:
    file = block.files[0]
    _check_shared(file)
    found = read_zip_group(ZipGroup(file, block.members or ()))
    summaries = [_summarise(document, documents) for document in found.documents]
    return FileSummary(file, summaries, found.problems, block.last, found.remarks)


def _read_lines(block: FileBlock, documents: list[Document]) -> FileSummary:
    file = block.files[0]
    summary = FileSummary(file, last=block.last, remarks=list(block.remarks))
    for number, line in block.lines or ():
        try:
            if file.is_mailbox:
                found = read_message(MailboxMessage(file, number, line))
                summary.documents += [_summarise(read, documents) for read in found.documents]
                summary.problems += found.problems
                summary.remarks += found.remarks
                continue
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
    if block.lines is not None and block.files[0].is_mailbox:  # a file attached to a message may end its reader
        if len(block.lines) == 1:
            number = block.lines[0][0]
            problems = [crash(f"{block.files[0].path}#{number}, or a file attached to it,"), *block.problems]
            return FileSummary(block.files[0], problems=problems, last=block.last)
        ends = [*[False] * (len(block.lines) - 1), block.last]
        return [
            FileBlock(block.files, (line,), problems=block.problems if last else (), last=last)
            for line, last in zip(block.lines, ends, strict=True)
        ]
    if block.lines is not None:
        raise LongmatchError(f"The workers that read {block.files[0].path} died ({type(error).__name__}).") from error
    if len(block.files) > 1:
        return [FileBlock((file,)) for file in block.files]
    file = block.files[0]
    if block.members is None:
        return FileSummary(file, problems=[crash(file.path)])
    if len(block.members) > 1:
        return [
            FileBlock((file,), members=(name,), last=block.last and number == len(block.members))
            for number, name in enumerate(block.members, 1)
        ]
    return FileSummary(file, problems=[crash(f"{file.path}#{block.members[0]}")], last=block.last)
