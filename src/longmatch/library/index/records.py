"""What a question reads of a document besides its terms: text, structure, and vectors or tokens, in one record.

Fetching documents from the store takes tens of milliseconds; a record is mapped into memory. The records of many
documents lie one after another in a file of a segment. Merging copies those of small files and links large ones into
the new segment, so a document is copied a few times at most, however large the index grows.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from longmatch.default.encoding import Encoding
from longmatch.lexical.terms import Hashes
from longmatch.library.rows import RECORD_COLUMNS, DocumentRow, OpenMeaning, VectorType, schema_for
from longmatch.matching.sentences import Sentences

Array = npt.NDArray[Any]

FIELDS = ("file", "start", "end", "unpacked_bytes")
"""The columns of a segment's table of records."""
NO_RECORD = np.array([-1, 0, 0, 0], dtype=np.int64)  # in place of a document's fields
CODEC = "zstd"


@dataclass(frozen=True)
class Record:
    """The record of one document; nothing of it is decoded before it is asked for."""

    id: str
    packed: Array  # bytes
    unpacked_bytes: int
    vectors: VectorType

    @staticmethod
    def of(id: str, arrays: Mapping[str, Array], fields: Sequence[int], vectors: VectorType) -> "Record":
        """Of the arrays of a segment; `fields` is a row of its table of records, `vectors` the type of those stored."""
        file, start, end, unpacked_bytes = fields
        return Record(id, arrays[file_name(file)][start:end], unpacked_bytes, vectors)

    def row(self, meaning: OpenMeaning | None) -> DocumentRow:
        """The document, as the store has it."""
        unpacked = pa.decompress(pa.py_buffer(self.packed), self.unpacked_bytes, codec=CODEC)
        return DocumentRow(
            pa.Table.from_batches([pa.ipc.read_record_batch(unpacked, record_schema(self.vectors))]), 0, meaning
        )

    def encoding(self, vocabulary: Hashes, title_vector: Array, vector: Array, meaning: OpenMeaning | None) -> Encoding:
        """The document's encoding; `vocabulary` is its distinct words, ascending."""
        row = self.row(meaning)
        sentences = Sentences(row.document(), *row.pieces())
        return Encoding(
            sentences, row.terms(vocabulary), row.vectors(), title_vector.astype(np.float32), np.asarray(vector)
        )


@cache
def record_schema(vectors: VectorType) -> pa.Schema:
    """The columns of a record, by the type of the vectors that are stored."""
    return pa.schema([field for field in schema_for(1, vectors) if field.name in RECORD_COLUMNS])


def file_name(number: int) -> str:
    """The name of a file of records."""
    return f"records.{number}"


def record_files(folder: Path) -> list[str]:
    """The names of a segment's files of records."""
    return sorted(path.name for path in folder.glob("records.*"))


def write_records(folder: Path, rows: Sequence[DocumentRow], full: int, vectors: VectorType) -> Array:
    """Write the records of documents to a new segment's folder; returns its table of records."""
    folder.mkdir(parents=True)
    schema, table = record_schema(vectors), []
    with RecordWriter(folder, full) as writer:
        for row in rows:
            columns = [row.table[field.name].chunk(0).slice(row.position, 1).take([0]) for field in schema]
            message = pa.RecordBatch.from_arrays(columns, schema=schema).serialize()
            packed = pa.compress(message, codec=CODEC, asbytes=True)
            table.append(writer.add([packed], [message.size]))
    return np.array(table, dtype=np.int64)


class RecordWriter:
    """Writes records to files of a folder, and begins another when one has `full` bytes.

    A file that is full is linked instead of copied, while half of it is in use.
    """

    def __init__(self, folder: Path, full: int) -> None:
        self._folder, self._full, self._numbers, self._written = folder, full, count(), full
        self.linked: dict[str, Path] = {}  # files that were taken over as they are, by their new name
        self._open: Any = None

    def __enter__(self) -> "RecordWriter":
        return self

    def __exit__(self, *error: object) -> None:
        if self._open is not None:
            self._open.close()

    def add(self, parts: Sequence[Any], fields: Sequence[int]) -> tuple[int, ...]:
        """Write a record, given as arrays or bytes; returns its fields, of which `fields` are those after the end."""
        if self._open is None or self._written >= self._full:
            self.__exit__()
            self._number, self._written = next(self._numbers), 0
            self._open = (self._folder / file_name(self._number)).open("wb")
        start = self._written
        end = start + sum(self._open.write(part) for part in parts)
        self._written = end + self._open.write(bytes(-end % 8))  # numbers are read where they lie
        return self._number, start, end, *fields

    def take(self, path: Path, data: Array, table: Array) -> Array:
        """Take over records of another segment's file: the whole file if it is full and half in use."""
        if len(data) >= self._full and 2 * int((table[:, 2] - table[:, 1]).sum()) >= len(data):
            number = next(self._numbers)
            link(path, self._folder / file_name(number), data)
            self.linked[file_name(number)] = path
            return np.column_stack([np.full(len(table), number), table[:, 1:]])
        return np.array([self.add([data[start:end]], rest) for _, start, end, *rest in table.tolist()], dtype=np.int64)


def link(path: Path, new: Path, data: Array) -> None:
    """Give a file a second name; where that cannot be, write its `data` again."""
    try:
        os.link(path, new)
    except OSError:  # another file system, one without links, or another process has removed the file
        with new.open("wb") as file:
            file.write(data.data if data.size else b"")
