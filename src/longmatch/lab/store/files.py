"""A layer on disk: ragged arrays of many documents, written shard by shard, whole or not at all, and memory-mapped.

layer.json    what it was made from, what every file holds, the shards, the documents that could not be handled
offsets.npy   (documents + 1, arrays) where each document's rows begin in each array, and the ends
NAME.npy      (rows, ...) an array, document after document

While it is being made the folder's name ends in `.partial`, and `shards.jsonl` lists the shards that are complete: an
interrupted build goes on after the last of them.
"""

import json
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import pairwise
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt
from numpy.lib import format as npy

from longmatch.errors import ReadError
from longmatch.lab.store.layer import Array, Arrays, Layer, Unhandled
from longmatch.units.tokens import Ints

JOURNAL = "shards.jsonl"
OFFSETS = "offsets"


@dataclass(frozen=True)
class Shard:
    """Consecutive documents that were written together."""

    end: int  # the number of the last document + 1
    rows: tuple[int, ...]  # of each array, up to here
    unhandled: Mapping[int, str]  # document numbers, and why nothing is held for them
    seconds: float  # that making it took

    @staticmethod
    def read(record: Mapping[str, Any]) -> "Shard":
        """A shard as JSON holds it."""
        unhandled = {int(number): why for number, why in record["unhandled"].items()}
        return Shard(record["end"], tuple(record["rows"]), unhandled, record["seconds"])


@dataclass(frozen=True)
class _ArrayFile:
    """What a .npy file holds, known without reading its header."""

    kind: str  # of the numbers
    shape: list[int]
    start: int  # bytes before the first row
    size: int  # bytes in all

    def map(self, path: str) -> Array:
        with open(path, "rb") as file:  # noqa: PTH123 - faster
            content = mmap(file.fileno(), 0, access=ACCESS_READ)
        return np.frombuffer(content, self.kind, offset=self.start).reshape(self.shape)


class StoredLayer:
    """A finished layer of a collection. Pickled, it is its folder's name."""

    def __init__(self, folder: Path) -> None:
        self.folder = Path(folder)
        try:
            content = json.loads((self.folder / "layer.json").read_text(encoding="utf-8"))
            self._files = {name: _ArrayFile(**facts) for name, facts in content["files"].items()}
            self.shards = tuple(Shard.read(record) for record in content["shards"])
            sizes = [os.stat(f"{self.folder}/{name}.npy").st_size for name in self._files]  # noqa: PTH116 - faster
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise self._broken from error
        if sizes != [file.size for file in self._files.values()]:
            raise self._broken
        self.names = tuple(name for name in self._files if name != OFFSETS)
        self._columns = {name: column for column, name in enumerate(self.names)}
        self._mapped: dict[str, Array] = {}

    def __len__(self) -> int:
        return self.shards[-1].end if self.shards else 0

    def __reduce__(self) -> tuple[type["StoredLayer"], tuple[Path]]:
        return type(self), (self.folder,)

    @cached_property
    def offsets(self) -> Ints:
        """Where each document's rows begin in each array, and the ends: (documents + 1, arrays)."""
        return np.array(self.mapped(OFFSETS))

    @cached_property
    def unhandled(self) -> dict[int, str]:
        """The numbers of the documents that could not be handled, and why."""
        return {number: why for shard in self.shards for number, why in shard.unhandled.items()}

    @property
    def seconds(self) -> float:
        """How long making it took."""
        return sum(shard.seconds for shard in self.shards)

    @property
    def ranges(self) -> list[tuple[int, int]]:
        """The first document and the last + 1 of each shard."""
        return list(pairwise([0, *(shard.end for shard in self.shards)]))

    def mapped(self, name: str) -> Array:
        """An array of all documents as it lies on disk; pages are read when they are used."""
        if name not in self._mapped:
            self._mapped[name] = self._files[name].map(f"{self.folder}/{name}.npy")
        return self._mapped[name]

    def bounds(self, name: str) -> Ints:
        """Where each document's rows begin in an array, and the end: (documents + 1,)."""
        return self.offsets[:, self._columns[name]]

    def array(self, name: str, first: int = 0, last: int | None = None) -> Array:
        """A copy of an array's rows of the documents first:last."""
        bounds = self.bounds(name)
        return np.array(self.mapped(name)[bounds[first] : bounds[len(self) if last is None else last]])

    def document(self, number: int, *names: str) -> dict[str, Array]:
        """Copies of one document's arrays; of all arrays, unless some are named."""
        return {name: self.array(name, number, number + 1) for name in names or self.names}

    def documents(self, *names: str) -> Iterator[dict[str, Array]]:
        """Copies of the arrays of all documents, in order."""
        return (self.document(number, *names) for number in range(len(self)))

    @property
    def _broken(self) -> ReadError:
        return ReadError(self.folder, "is not a complete layer", "Remove it: it will be made again.")


class LayerWriter:
    """A layer that is being made: shards are added, and `finish` turns it into a finished one."""

    def __init__(self, folder: Path, layer: Layer) -> None:
        self._folder, self._layer = folder, layer
        self._partial = folder.with_name(folder.name + ".partial")
        self._partial.mkdir(parents=True, exist_ok=True)
        self._files = {name: _GrowingFile(self._partial / f"{name}.npy", *kind) for name, kind in layer.shapes.items()}
        self._offsets = _GrowingFile(self._partial / f"{OFFSETS}.npy", np.int64, (len(self._files),))
        self._journal = (self._partial / JOURNAL).open("a+b")
        self._shards: list[Shard] = []
        self._journal.seek(0)
        for line in self._journal:
            try:
                self._shards.append(Shard.read(json.loads(line)))
            except (ValueError, KeyError):  # killed while it was written
                break
        files = (*self._files.values(), self._offsets)
        while self._shards:  # go on after the last shard that all files hold, or from the beginning
            last = self._shards[-1]
            if all(file.rows >= rows for file, rows in zip(files, (*last.rows, last.end + 1), strict=True)):
                break
            self._shards.pop()
        self.truncate(self.documents)

    @property
    def documents(self) -> int:
        """How many documents have been written."""
        return self._shards[-1].end if self._shards else 0

    @property
    def ends(self) -> list[int]:
        """Up to which documents the shards reach that have been written."""
        return [shard.end for shard in self._shards]

    def add(self, results: Sequence[Arrays | Unhandled], seconds: float) -> None:
        """Write the next documents as one shard."""
        first, empty = self.documents, self._layer.empty()
        arrays = [empty if isinstance(result, Unhandled) else result for result in results]
        starts = np.array([file.rows for file in self._files.values()])
        counts = np.array([[len(each[name]) for name in self._files] for each in arrays], dtype=np.int64)
        for name, file in self._files.items():
            file.add(np.concatenate([each[name] for each in arrays]))
        self._offsets.add(starts + counts.cumsum(axis=0))
        rows = tuple(file.rows for file in self._files.values())
        unhandled = {first + i: str(result) for i, result in enumerate(results) if isinstance(result, Unhandled)}
        shard = Shard(first + len(results), rows, unhandled, seconds)
        for file in (*self._files.values(), self._offsets):
            file.flush()
        self._journal.write(json.dumps(asdict(shard)).encode() + b"\n")  # after what it vouches for
        self._journal.flush()
        self._shards.append(shard)

    def written(self, name: str) -> Array:
        """What an array holds so far."""
        return self._files[name].read()

    def truncate(self, documents: int) -> None:
        """Drop all documents from this number on, with the whole shards they lie in."""
        self._shards = [shard for shard in self._shards if shard.end <= documents]
        rows = self._shards[-1].rows if self._shards else (0,) * len(self._files)
        for file, count in zip(self._files.values(), rows, strict=True):
            file.truncate(count)
        self._offsets.truncate(self.documents + 1 if self._shards else 0)
        if not self._shards:
            self._offsets.add(np.zeros((1, len(self._files))))
        self._journal.truncate(0)
        for shard in self._shards:
            self._journal.write(json.dumps(asdict(shard)).encode() + b"\n")
        self._journal.flush()

    def finish(self) -> None:
        """Put the finished layer in its place."""
        self.close()
        files = self._files | {OFFSETS: self._offsets}
        content = {
            "facts": dict(self._layer.facts),
            "files": {name: asdict(file.facts) for name, file in files.items()},
            "shards": [asdict(shard) for shard in self._shards],
        }
        (self._partial / JOURNAL).unlink()
        (self._partial / "layer.json").write_text(json.dumps(content), encoding="utf-8")
        if self._folder.exists():  # damaged, or it would not have been made again
            shutil.rmtree(self._folder)
        self._partial.rename(self._folder)

    def close(self) -> None:
        """Close all files; what has been written stays, for a build that goes on from here."""
        for file in (*self._files.values(), self._offsets):
            file.close()
        self._journal.close()

    def discard(self) -> None:
        """Remove what has been written."""
        self.close()
        shutil.rmtree(self._partial)


class _GrowingFile:
    """A .npy file that rows are appended to; its header is rewritten with their number when it is closed."""

    def __init__(self, path: Path, kind: npt.DTypeLike, shape: tuple[int, ...]) -> None:
        self.path, self._kind, self._shape = path, np.dtype(kind), shape
        self._row = self._kind.itemsize * int(np.prod(shape, dtype=np.int64))  # bytes
        size = path.stat().st_size if path.exists() else 0
        self._file: IO[bytes] = path.open("r+b" if path.exists() else "w+b")
        self.rows = 0
        self._write_header()
        self._start = self._file.tell()
        self.rows = max(0, size - self._start) // self._row
        self._file.seek(0, 2)

    @property
    def facts(self) -> _ArrayFile:
        """What it holds."""
        return _ArrayFile(self._kind.str, [self.rows, *self._shape], self._start, self.path.stat().st_size)

    def add(self, rows: npt.NDArray[Any]) -> None:
        """Append (rows, ...)."""
        self._file.write(np.ascontiguousarray(rows, dtype=self._kind).tobytes())
        self.rows += len(rows)

    def read(self) -> Array:
        """All rows."""
        self._file.flush()
        count = self.rows * self._row // self._kind.itemsize
        return np.fromfile(self.path, self._kind, count, offset=self._start).reshape(self.rows, *self._shape)

    def truncate(self, rows: int) -> None:
        """Keep the first rows."""
        self._file.truncate(self._start + rows * self._row)
        self._file.seek(0, 2)
        self.rows = rows

    def flush(self) -> None:
        """Hand everything to the operating system."""
        self._file.flush()

    def close(self) -> None:
        """Finish the header."""
        if not self._file.closed:
            self._file.seek(0)
            self._write_header()
            self._file.close()

    def _write_header(self) -> None:
        """Of the same length whatever the number of rows: the format leaves room for it."""
        shape = (self.rows, *self._shape)
        facts = {"descr": npy.dtype_to_descr(self._kind), "fortran_order": False, "shape": shape}
        npy.write_array_header_1_0(self._file, facts)  # type: ignore[arg-type]
