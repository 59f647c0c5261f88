"""Reading files on the workers; the coordinating process sees only summaries of the documents."""

import socket
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from longmatch.distributed.cluster import worker_error
from longmatch.documents.containers import Found, Member, crash, grouped, members, read_group
from longmatch.documents.document import Document, content_hash
from longmatch.documents.formats import container_named
from longmatch.errors import LongmatchError, ReadError
from longmatch.library.files import FileRead, SourceFile, read_file

BLOCK_FILES, BLOCK_BYTES = 64, 4_000_000  # per block


@dataclass(frozen=True)
class FileBlock:
    """Files to be read by one task; or members of one file that holds many: some of its lines, messages or files."""

    files: tuple[SourceFile, ...]
    members: tuple[Member, ...] | None = None
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
    """The documents of a file, or of some of its members, and problems with it."""

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
            before: tuple[Member, ...] = ()
            for group in grouped(members(file.path), size):
                if before:
                    yield FileBlock((file,), before, last=False)
                before = group
            yield FileBlock((file,), before)
    if pending:
        yield FileBlock(tuple(pending))


def read_block(block: FileBlock) -> tuple[list[FileSummary], list[Document]]:
    """Summaries of a block's files, and the documents, which stay on the machine until they are encoded."""
    documents: list[Document] = []
    if block.members:
        file = block.files[0]
        container = container_named(file.path.name)
        if container is not None and container.of_files:
            _check_shared(file)
        return [_summarise(file, read_group(block.members, file.id), documents, block.last)], documents
    summaries = []
    for file in block.files if block.members is None else ():
        _check_shared(file)
        summaries.append(_summarise(file, read_file(file), documents))
    return summaries, documents


def _check_shared(file: SourceFile) -> None:
    if not file.path.parent.is_dir():
        raise LongmatchError(
            f"{file.path} does not exist on the machine {socket.gethostname()}. Put the documents where all machines "
            "of the cluster find them under the same path, or into one JSON Lines file, which is read here."
        )


def _summarise(file: SourceFile, found: Iterable[Found], documents: list[Document], last: bool = True) -> FileSummary:
    """What was found in a file; its documents are appended to `documents`."""
    read, summaries = FileRead(file, found), []
    for document in read.documents:
        place = len(documents)
        summaries.append(DocumentSummary(document.id, content_hash(document), len(document.text), place))
        documents.append(document)
    return FileSummary(file, summaries, read.problems, last, read.remarks)


def read_blocks(
    ray: Any, blocks: Iterable[FileBlock], ahead: int, at_once: int
) -> Iterator[tuple[list[FileSummary], Any]]:
    """Summaries of each block, in order, with a Ray reference to its documents.

    Up to `ahead` blocks are read in advance, `at_once` at the same time, as each takes a process.
    """
    # no CPUs reserved: reading never waits for an encoding worker to release one
    reader = ray.remote(num_returns=2, num_cpus=0, max_retries=3)(read_block)
    remaining, queue = iter(blocks), deque[tuple[FileBlock, Any, Any]]()
    while True:
        while len(queue) < ahead:
            tasks = [summaries for _, summaries, _ in queue]
            if tasks and len(ray.wait(tasks, num_returns=len(tasks), timeout=0)[1]) >= at_once:
                break
            if (upcoming := next(remaining, None)) is None:
                break
            queue.append((upcoming, *reader.remote(upcoming)))
        if not queue:
            return
        block, summaries, documents = queue.popleft()
        try:
            yield ray.get(summaries), documents
        except ray.exceptions.RayTaskError as error:
            raise worker_error(error) from error
        except ray.exceptions.RayError:
            retries = _single_files(block)
            if isinstance(retries, FileSummary):
                yield [retries], ray.put([])
            else:
                queue.extendleft((one, *reader.remote(one)) for one in reversed(retries))


def _single_files(block: FileBlock) -> list[FileBlock] | FileSummary:
    """Split a block whose reader died into one block per file or member; a single one is reported instead."""
    file = block.files[0]
    if len(block.files) > 1:
        return [FileBlock((file,)) for file in block.files]
    if not block.members:
        return FileSummary(file, problems=[crash(file.path)])
    if len(block.members) > 1:
        alone = [FileBlock((file,), (member,), last=False) for member in block.members]
        return [*alone[:-1], replace(alone[-1], last=block.last)]
    return _summarise(file, block.members[0].after_crash(file.id), [], block.last)
