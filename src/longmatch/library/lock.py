"""One writer at a time. The system frees the lock of a process that ends, however it ends."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from filelock import FileLock, Timeout

from longmatch.library.errors import LibraryError

LOCK = "writer.lock"


@contextmanager
def writing(folder: Path, tell: Callable[[str], None]) -> Iterator[None]:
    """Hold the library's lock; where another process has it, say so and wait."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = FileLock(folder / LOCK, thread_local=False)
        try:
            lock.acquire(timeout=0)
        except Timeout:
            tell(f"Another process is changing {folder}; waiting until it is done.")
            lock.acquire()
    except OSError as error:
        raise LibraryError(f"{folder} cannot be written ({error.strerror}). Name a folder you may write to.") from error
    try:
        yield
    finally:
        lock.release()


@contextmanager
def writing_if_free(folder: Path) -> Iterator[Literal["held", "busy", "forbidden"]]:
    """Hold the lock if nobody else does and the folder can be written."""
    lock = FileLock(folder / LOCK, thread_local=False)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock.acquire(timeout=0)
    except Timeout:
        yield "busy"
        return
    except OSError:
        yield "forbidden"
        return
    try:
        yield "held"
    finally:
        lock.release()
