"""Messages between processes: the length of each in eight bytes, then its content."""

from asyncio import IncompleteReadError, StreamReader
from collections.abc import Iterator
from typing import BinaryIO

LENGTH = 8  # bytes


def message(content: bytes) -> bytes:
    """A message as it is sent."""
    return len(content).to_bytes(LENGTH, "big") + content


def messages(stream: BinaryIO) -> Iterator[bytes]:
    """The messages of a stream, until it ends."""
    while len(length := stream.read(LENGTH)) == LENGTH:
        yield stream.read(int.from_bytes(length, "big"))


async def next_message(stream: StreamReader) -> bytes | None:
    """The next message; None if the stream has ended."""
    try:
        length = int.from_bytes(await stream.readexactly(LENGTH), "big")
        return await stream.readexactly(length)
    except IncompleteReadError:
        return None
