"""Files that a command writes beside what it prints."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from longmatch.errors import LongmatchError


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """One sentence where a file cannot be written."""
    try:
        yield
    except OSError as error:
        raise LongmatchError(f"{path} cannot be written ({error.strerror}). Name another file.") from error
