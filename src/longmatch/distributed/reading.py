"""Files become documents on the workers; the one who asked sees only which documents there are."""

import socket
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from longmatch.documents.document import Document, content_hash
from longmatch.documents.jsonl import numbered_lines, parse_line
from longmatch.documents.read import read
from longmatch.errors import LongmatchError, ReadError
from longmatch.library.files import SourceFile

BLOCK_FILES, BLOCK_BYTES = 64, 4_000_000  # read at a time
CRASHED = "It is damaged in a way no reader survives; leave it out."


@dataclass(frozen=True)
class Block:
    """Files that are read at a time, or some lines of a JSON Lines file; those come with the block."""

    files: tuple[SourceFile, ...]
    lines: tuple[tuple[int, bytes], ...] | None = None
    problems: tuple[ReadError, ...] = ()  # of the JSON Lines file as a whole
    last: bool = True  # whether no more lines of the file follow


@dataclass(frozen=True)
class Seen:
    """What has to be known of a document to decide about it."""

    id: str
    hash: str
    characters: int
    place: int  # in its block


@dataclass
class FileSeen:
    """The documents of a file, or of some of its lines, and what is wrong with it."""

    file: SourceFile
    documents: list[Seen] = field(default_factory=list)
    problems: list[ReadError] = field(default_factory=list)
    last: bool = True


def blocks_of(files: Iterable[SourceFile], size: int = BLOCK_BYTES) -> Iterator[Block]:
    """Files in their order, in blocks of about one size."""
    waiting: list[SourceFile] = []
    for file in files:
        if waiting and (
            file.is_json_lines or len(waiting) == BLOCK_FILES or sum(f.size for f in [*waiting, file]) > size
        ):
            yield Block(tuple(waiting))
            waiting = []
        if file.is_json_lines:
            yield from _blocks_of_lines(file, size)
        else:
            waiting.append(file)
    if waiting:
        yield Block(tuple(waiting))


def _blocks_of_lines(file: SourceFile, size: int) -> Iterator[Block]:
    lines: list[tuple[int, bytes]] = []
    weight, empty = 0, True
    problems: list[ReadError] = []
    try:
        for number, line in numbered_lines(file.path):
            empty = False
            if lines and weight + len(line) > size:
                yield Block((file,), tuple(lines), last=False)
                lines, weight = [], 0
            lines.append((number, line))
            weight += len(line)
    except ReadError as error:
        problems.append(error)
    else:
        if empty:
            problems.append(ReadError(file.path, "is empty", "Leave it out, or put documents in it."))
    yield Block((file,), tuple(lines), tuple(problems))


def read_block(block: Block) -> tuple[list[FileSeen], list[Document]]:
    """What a block holds, and the documents themselves, which stay where they were read until they are encoded."""
    documents: list[Document] = []
    found = (
        [_read_file(file, documents) for file in block.files]
        if block.lines is None
        else [_read_lines(block, documents)]
    )
    return found, documents


def _read_file(file: SourceFile, documents: list[Document]) -> FileSeen:
    if not file.path.parent.is_dir():
        raise LongmatchError(
            f"{file.path} is not there on the machine {socket.gethostname()}. Put the documents where all machines of "
            "the cluster find them under the same name, or into one JSON Lines file, which is read here."
        )
    try:
        return FileSeen(file, [_seen(read(file.path, file.id), documents)])
    except ReadError as error:
        return FileSeen(file, problems=[error])


def _read_lines(block: Block, documents: list[Document]) -> FileSeen:
    file = block.files[0]
    found = FileSeen(file, last=block.last)
    for number, line in block.lines or ():
        try:
            document = parse_line(line, file.path, number)
        except ReadError as error:
            found.problems.append(error)
        else:
            if document is not None:
                found.documents.append(_seen(document, documents))
    found.problems += block.problems
    return found


def _seen(document: Document, documents: list[Document]) -> Seen:
    documents.append(document)
    return Seen(document.id, content_hash(document), len(document.text), len(documents) - 1)


def read_blocks(ray: Any, blocks: Iterable[Block], ahead: int, at_once: int) -> Iterator[tuple[list[FileSeen], Any]]:
    """What each block holds, in order, with a reference to its documents.

    Blocks are read ahead, few at once: each takes a process.
    """
    reader = ray.remote(num_returns=2, num_cpus=0, max_retries=3)(read_block)  # beside the encoders, never in their way
    rest, waiting = iter(blocks), deque[tuple[Block, Any, Any]]()

    def submit(some: Sequence[Block], put: Callable[[tuple[Block, Any, Any]], None]) -> None:
        for block in some:
            put((block, *reader.remote(block)))

    def is_room() -> bool:
        seen = [seen for _, seen, _ in waiting]
        return len(seen) < ahead and (not seen or len(ray.wait(seen, num_returns=len(seen), timeout=0)[1]) < at_once)

    while True:
        while is_room() and (block := next(rest, None)) is not None:
            submit([block], waiting.append)
        if not waiting:
            return
        block, seen, documents = waiting.popleft()
        try:
            yield ray.get(seen), documents
        except ray.exceptions.RayTaskError:
            raise
        except ray.exceptions.RayError as error:
            alone = _alone(block, error)
            if isinstance(alone, FileSeen):
                yield [alone], ray.put([])
            else:
                submit(alone[::-1], waiting.appendleft)


def _alone(block: Block, error: Exception) -> list[Block] | FileSeen:
    """The files of a block whose readers died, each in a separate block; a file that is alone is named."""
    if block.lines is not None:
        raise LongmatchError(f"The workers that read {block.files[0].path} died ({type(error).__name__}).") from error
    if len(block.files) > 1:
        return [Block((file,)) for file in block.files]
    file = block.files[0]
    return FileSeen(file, problems=[ReadError(file.path, "made its reader crash", CRASHED)])
