"""Files that a command writes beside what it prints."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from longmatch.cli.printing import exact_output
from longmatch.errors import LongmatchError

STANDARD_OUTPUT = "-"

PAGE, TABLE = (".html", ".htm"), (".csv", ".tsv")  # how the files end that may be replaced


def check_output(path: Path, suffixes: Sequence[str], inputs: Sequence[str | Path | None] = ()) -> None:
    """Refuse, before anything is computed, to write over a document: a file that is read, or of another kind."""
    if not path.is_file():
        return
    if any(given is not None and _is_same(path, given) for given in inputs):
        raise LongmatchError(f"{path} is read here, and would be overwritten. Name another file to write to.")
    if path.suffix.lower() not in suffixes:
        ends = " or ".join(suffixes)
        raise LongmatchError(f"{path} exists and does not end in {ends}. Name another file, or remove it first.")


def _is_same(path: Path, given: str | Path) -> bool:
    try:
        return path.samefile(given)
    except (OSError, ValueError):  # an id, or a name no file can have
        return False


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Make the folder of a file to write; one sentence where it cannot be written."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield
    except OSError as error:
        raise LongmatchError(f"{path} cannot be written ({error.strerror}). Name another file.") from error


@contextmanager
def opened_output(file: str) -> Iterator[TextIO]:
    """A file to write a table or an export to, or standard output."""
    if file == STANDARD_OUTPUT:
        with exact_output() as out:
            yield out
        return
    with writing(Path(file)), Path(file).open("w", encoding="utf-8", errors="replace", newline="") as opened:
        yield opened
