"""What a question reads of a document besides its terms: sentence vectors or tokens, text and structure, in one record.

Fetching documents from the store takes tens of milliseconds; a record is mapped into memory. The records of many
documents lie one after another in a file of a segment. Merging copies those of small files and links large ones into
the new segment, so a document is copied a few times at most, however large the index grows.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from longmatch.default.encoding import Encoding
from longmatch.lexical.terms import Hashes
from longmatch.library.row_cache import StoredSentences
from longmatch.library.rows import RECORD_COLUMNS, TOKEN_COLUMNS, DocumentRow, OpenMeaning, schema_for
from longmatch.matching.levels import SIZES
from longmatch.matching.sentences import Sentences

Array = npt.NDArray[Any]

FIELDS = ("file", "start", "end", "sentences", "number_bytes", "unpacked_bytes")
"""The columns of a segment's table of records."""
NO_RECORD = np.array([-1, 0, 0, 0, 0, 0], dtype=np.int64)  # in place of a document's fields
CODEC = "zstd"
VECTOR_TYPES: dict[int, np.dtype[Any]] = {0: np.dtype(np.int8), 1: np.dtype(np.int8), 2: np.dtype(np.float16)}
"""By the bytes of a number; 0 for no vectors."""
SCHEMA = pa.schema([field for field in schema_for(1, "none") if field.name in RECORD_COLUMNS])
WITHOUT_TOKENS = pa.schema([field for field in SCHEMA if field.name not in TOKEN_COLUMNS])  # where vectors are stored


@dataclass(frozen=True)
class Record:
    """The record of one document; nothing of it is decoded before it is asked for."""

    id: str
    vectors: Array  # of the sentences, as stored; none where they are made from tokens
    expectations: Array
    packed: Array  # bytes
    unpacked_bytes: int

    @staticmethod
    def of(id: str, arrays: Mapping[str, Array], fields: Sequence[int], width: int) -> "Record":
        """Of the arrays of a segment; `fields` is a row of its table of records, `width` that of the vectors."""
        data = arrays[file_name(fields[0])]
        _, start, end, sentences, number_bytes, unpacked_bytes = fields
        after_vectors = start + sentences * width * number_bytes
        after_expectations = after_vectors + sentences * len(SIZES) * 2 * bool(number_bytes)
        vectors = data[start:after_vectors].view(VECTOR_TYPES[number_bytes])
        expectations = data[after_vectors:after_expectations].view(np.float16).reshape(-1, len(SIZES))
        return Record(id, vectors, expectations, data[after_expectations:end], unpacked_bytes)

    def row(self, meaning: OpenMeaning | None) -> DocumentRow:
        """The text and structure, as the store has them."""
        unpacked = pa.decompress(pa.py_buffer(self.packed), self.unpacked_bytes, codec=CODEC)
        schema = WITHOUT_TOKENS if len(self.vectors) else SCHEMA
        return DocumentRow(pa.Table.from_batches([pa.ipc.read_record_batch(unpacked, schema)]), 0, meaning)

    def sentences(self, meaning: OpenMeaning | None) -> StoredSentences:
        """The sentence vectors."""
        if len(self.vectors):
            return StoredSentences(self.id, self.vectors, self.expectations)
        return StoredSentences.of(self.row(meaning))

    def encoding(self, vocabulary: Hashes, title_vector: Array, vector: Array, meaning: OpenMeaning | None) -> Encoding:
        """The document's encoding; `vocabulary` is its distinct words, ascending."""
        row = self.row(meaning)
        sentences, tokens, title = (
            Sentences(row.document(), *row.pieces()),
            row.tokens(),
            title_vector.astype(np.float32),
        )
        vectors = self.sentences(meaning).unpacked() if tokens is None else row.vectors()
        return Encoding(sentences, vectors, row.terms(vocabulary), title, np.asarray(vector), tokens)


def file_name(number: int) -> str:
    """The name of a file of records."""
    return f"records.{number}"


def record_files(folder: Path) -> list[str]:
    """The names of a segment's files of records."""
    return sorted(path.name for path in folder.glob("records.*"))


def write_records(folder: Path, rows: Sequence[DocumentRow], full: int) -> Array:
    """Write the records of documents to a new segment's folder; returns its table of records."""
    folder.mkdir(parents=True)
    table = []
    with RecordWriter(folder, full) as writer:
        for row in rows:
            stored = [] if row.tokens() is not None else [row.array(name) for name in ("vectors", "expectations")]
            schema = WITHOUT_TOKENS if stored else SCHEMA
            columns = [row.table[field.name].chunk(0).slice(row.position, 1).take([0]) for field in schema]
            message = pa.RecordBatch.from_arrays(columns, schema=schema).serialize()
            packed = pa.compress(message, codec=CODEC, asbytes=True)
            parts = [*map(np.ascontiguousarray, stored), packed]
            number_bytes = stored[0].itemsize if stored else 0
            table.append(writer.add(parts, (len(row.pieces()[0]), number_bytes, message.size)))
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
