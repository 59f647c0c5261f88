"""The documents and their encodings in LanceDB: in a folder, or in object storage.

Every change is one atomic commit: a process killed at any moment leaves the library as it was before or after it.
"""

import ctypes
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from importlib import import_module
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

import pyarrow as pa

from longmatch.default.meaning import TableMeaning
from longmatch.documents.document import content_hash
from longmatch.encoders.hardware import usable_cores
from longmatch.library.checksums import StoreChecks, storage_errors
from longmatch.library.conditions import parse, quoted
from longmatch.library.errors import NotALibrary
from longmatch.library.model import LibraryModel
from longmatch.library.rows import DOCUMENT_COLUMNS, DocumentRow, rows_of, schema_for
from longmatch.library.settings import DEFAULTS, LibrarySettings

CLIENT = "lance_namespace_urllib3_client"
DOCUMENTS, FILES = "documents", "files"
REENCODED = "documents_again"  # the documents while they are encoded with another model
MODEL_KEY = "longmatch"  # of the LibraryModel, in the metadata of the table's schema
FOLDER_LIBRARY = ".longmatch"  # the library of a folder of documents, inside that folder
INDEX_CACHE, METADATA_CACHE = 1 << 28, 1 << 26  # bytes
NO_LIMIT = 10**9  # rows; LanceDB's default limit is 10
ARENA_MAX = -8  # parameter of mallopt

T = TypeVar("T")

_FILE_TYPES = {"path": pa.string(), "hash": pa.string(), "size": pa.int64(), "modified": pa.int64()}
FILE_SCHEMA = pa.schema([*_FILE_TYPES.items(), ("problems", pa.list_(pa.string()))])


class Store:
    """The tables of one library."""

    def __init__(
        self,
        address: str,
        database: Any,
        model: LibraryModel,
        checks: StoreChecks,
        table: str = DOCUMENTS,
        settings: LibrarySettings = DEFAULTS,
    ) -> None:
        self.address, self.model, self.checks, self.settings = address, model, checks, settings
        self.database = database
        self.documents = database.open_table(table)
        self._version: int | None = None  # as it was read last; None after a change
        self._opened_version = self.version
        self._meaning: tuple[LibraryModel, TableMeaning] | None = None  # with the model that it belongs to

    @classmethod
    def open(cls, address: str, table: str = DOCUMENTS, settings: LibrarySettings = DEFAULTS) -> "Store":
        """Open a library; `table` is that of the documents. Raises NotALibrary if there is none."""
        database = _connect(address, create=False)
        checks = StoreChecks(address)
        checks.check()
        with storage_errors(address):
            if not _table_exists(database, address, table):
                raise NotALibrary(f"{address} is not a library. Make one: longmatch index LIBRARY {address}.")
            store = cls(address, database, _model_of(database.open_table(table), address), checks, table, settings)
        checks.check_version(table, store.version)
        return store

    @classmethod
    def create(
        cls, address: str, model: LibraryModel, table: str = DOCUMENTS, settings: LibrarySettings = DEFAULTS
    ) -> "Store":
        """Create an empty library, or open the existing one."""
        database = _connect(address, create=True)
        with storage_errors(address):
            schema = _schema_with(model)
            if not _table_exists(database, address, DOCUMENTS):
                StoreChecks(address).forget()
            if not _table_exists(database, address, FILES):
                database.create_table(FILES, schema=FILE_SCHEMA)
            if not _table_exists(database, address, table):
                database.create_table(table, schema=schema)  # last: makes it a library
        return cls.open(address, table, settings)

    def replace_documents(self, other: "Store") -> None:
        """Replace all documents by those of another table of the library in one commit, and drop that table."""
        with storage_errors(self.address):
            other.checks.need_documents()
            schema = _schema_with(other.model)
            rows = _query(other.documents, schema.names, None).to_batches(batch_size=64)
            reader = pa.RecordBatchReader.from_batches(schema, (batch.cast(schema) for batch in rows))
            self.database.create_table(DOCUMENTS, data=reader, schema=schema, mode="overwrite")
        other.drop()

    def drop(self) -> None:
        """Remove the table of the documents."""
        with storage_errors(self.address):
            self.database.drop_table(self.documents.name)

    def meaning(self) -> TableMeaning:
        """What makes vectors where tokens are stored; opened when one is needed."""
        if self._meaning is None or self._meaning[0] != self.model:
            self._meaning = self.model, self.model.table_meaning(self.address)
        return self._meaning[1]

    @property
    def lacks_columns(self) -> bool:
        """Whether the library was made by an older longmatch, with fewer columns."""
        return not set(schema_for(self.model.width, self.model.vectors).names) <= set(self.documents.schema.names)

    @property
    def is_shared(self) -> bool:
        """Whether other machines may change it at any time: a lock keeps other writers away from a folder alone."""
        return "://" in self.address

    @property
    def version(self) -> int:
        """A number that changes with every commit: that of the last refresh, or of an own change since."""
        if self._version is None:
            self._version = int(self.documents.version)
        return self._version

    def refresh(self) -> None:
        """Read the latest commit of any process; it may have encoded all documents with another model."""
        with storage_errors(self.address):
            if self._has_moved_on(self.version):
                self.model = _model_of(self.documents, self.address)
            self._reopen_if_old()

    def _reopen_if_old(self) -> None:
        """Reopen the tables after many commits, as the caches of every version would stay in memory."""
        if self.version - self._opened_version >= self.settings.reopened_after:
            self.database = _connect(self.address, create=False)
            self.documents, self._version = self.database.open_table(self.documents.name), None
            self._opened_version = self.version

    def __len__(self) -> int:
        with storage_errors(self.address):
            return int(self.documents.count_rows())

    def read(self, columns: Sequence[str], where: str | None = None) -> pa.Table:
        """Some columns of all documents, or of those that satisfy the SQL condition `where`."""
        self.checks.need_documents()
        return self._ask(lambda table: _query(table, columns, where).to_arrow())

    def _ask(self, read: Callable[[Any], T]) -> T:
        """What `read` reads of the documents; again where another process has dropped the version that was read."""
        with storage_errors(self.address):
            while True:
                version = self.documents.version
                try:
                    return read(self.documents)
                except (OSError, RuntimeError):
                    if not self._has_moved_on(version):
                        raise

    def _has_moved_on(self, version: int) -> bool:
        """Whether there is a later version than the one that was read; it is checked out."""
        self.documents.checkout_latest()
        self._version = None
        return self.version != version

    def ids_where(self, where: str) -> set[str]:
        """The ids of the documents that satisfy a user's condition."""
        return set(self.read(["id"], parse(where).sql)["id"].to_pylist())

    def fetch(self, ids: Sequence[str], columns: Sequence[str]) -> list[DocumentRow]:
        """The documents with these ids, in their order; unknown ids are skipped.

        In a damaged library, those that are intact can be had.
        """
        if not ids:
            return []
        with_hash = list(dict.fromkeys([*columns, "hash"])) if self.checks.damaged else columns
        table = self._ask(lambda table: _query(table, with_hash, sql_in("id", ids)).to_arrow())
        rows = {row.id: row for row in rows_of(table, self.meaning)}
        found = [rows[id] for id in ids if id in rows]
        if self.checks.damaged and found and list(columns) != ["id"]:  # an id is intact: it was found by it
            is_whole = set(DOCUMENT_COLUMNS) <= set(columns)
            if not is_whole or any(content_hash(row.document()) != str(row.value("hash")) for row in found):
                self.checks.need_documents()
        return found

    def batches(self, columns: Sequence[str], size: int = 64) -> Iterator[list[DocumentRow]]:
        """All documents, at most `size` at a time."""
        self.checks.need_documents()
        given: set[str] = set()
        with storage_errors(self.address):
            while True:
                version = self.documents.version
                try:
                    for batch in _query(self.documents, columns, None).to_batches(batch_size=size):
                        rows = [
                            row for row in rows_of(pa.Table.from_batches([batch]), self.meaning) if row.id not in given
                        ]
                        given.update(row.id for row in rows)
                        if rows:
                            yield rows
                except (OSError, RuntimeError):
                    if not self._has_moved_on(version):
                        raise
                else:
                    return

    def put(self, rows: pa.Table) -> pa.Table:
        """Add documents, or replace those of the same id, in one commit; returns them as stored."""
        with self._change():
            return _merge(self.documents, "id", rows)

    def delete(self, ids: Sequence[str]) -> None:
        """Remove documents in one commit."""
        with self._change():
            self.documents.delete(sql_in("id", ids))

    @contextmanager
    def _change(self) -> Iterator[None]:
        """Around a commit of documents."""
        self.checks.need_documents()
        with storage_errors(self.address):
            yield
            self._version = None
            self._record()
            self._reopen_if_old()

    def _record(self) -> None:
        """Record the checksums of what was just committed."""
        if self.documents.name == DOCUMENTS:
            self.checks.record(DOCUMENTS, self.version)

    def files(self) -> dict[str, dict[str, Any]]:
        """The record of each indexed file, by path."""
        with storage_errors(self.address):
            while True:
                table = self._files
                try:
                    rows = _query(table, FILE_SCHEMA.names, None).to_arrow().to_pylist()
                except (OSError, RuntimeError):
                    if self._files.version == table.version:
                        raise
                else:
                    return {row["path"]: row for row in rows}

    def put_files(self, files: Sequence[dict[str, Any]]) -> None:
        """Add or replace the records of indexed files."""
        if files:
            with storage_errors(self.address):
                _merge(self._files, "path", pa.Table.from_pylist(list(files), schema=FILE_SCHEMA))
                self._record()

    def delete_files(self, paths: Sequence[str]) -> None:
        """Remove the records of files."""
        if paths:
            with storage_errors(self.address):
                self._files.delete(sql_in("path", paths))
                self._record()

    @property
    def _files(self) -> Any:
        self.checks.need_files()
        if not _table_exists(self.database, self.address, FILES):  # it was damaged, and removed
            self.database.create_table(FILES, schema=FILE_SCHEMA)
        return self.database.open_table(FILES)

    def tidy(self, vectors: bool = True) -> None:
        """Create missing indices, and compact the tables if they have many small fragments.

        Very many document vectors get an approximate index, but for `vectors=False`.
        """
        from lancedb.index import FTS, BTree, IvfRq

        with self._change():
            present = {index.columns[0] for index in self.documents.list_indices()}
            count = self.documents.count_rows()
            fragments = self.documents.stats()["fragment_stats"]["num_fragments"]
            if not count:
                return
            if "id" not in present:
                self.documents.create_index("id", config=BTree())
            if "text" not in present:
                self.documents.create_index("text", config=FTS(base_tokenizer="icu"))
            if vectors and count >= self.settings.exact_below and "mean" not in present:
                self.documents.create_index("mean", config=IvfRq(distance_type="cosine"))
            most = self.settings.fragments + count // 500  # compacting rewrites everything: less often the larger it is
            if fragments > most:
                local = not self.is_shared
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", UserWarning)  # readers of old versions retry: see `read`
                    for table in (self.documents, self._files):
                        table.optimize(cleanup_older_than=timedelta(0) if local else None, delete_unverified=local)

    def nearest(self, vector: Any, count: int, where: str | None) -> list[str]:
        """The ids of the `count` documents nearest to a vector, by the approximate index."""

        def search(table: Any) -> Any:
            query = table.search(vector, vector_column_name="mean").distance_type("cosine").refine_factor(10)
            return query.where(where, prefilter=True) if where else query

        return self._first(search, "_distance", count)

    def has_vector_index(self) -> bool:
        """Whether there is an approximate index of the document vectors."""
        return any(index.columns == ["mean"] for index in self._ask(lambda table: table.list_indices()))

    def find(self, words: str, count: int) -> list[str]:
        """The ids of the `count` documents that contain all of some words, best first, by the full-text index."""
        from lancedb.query import FullTextOperator, MatchQuery

        make: Any = MatchQuery  # its types make no argument optional
        query = make(words, "text", operator=FullTextOperator.AND)
        return self._first(lambda table: table.search(query, query_type="fts"), "_score", count)

    def _first(self, search: Callable[[Any], Any], column: str, count: int) -> list[str]:
        """The ids of the first `count` rows, ties by id; as many are read as are tied with the last of them."""
        self.checks.need_documents()
        limit, sign = count + 1, 1 if column == "_distance" else -1

        def read(table: Any) -> pa.Table:
            return search(table).select(["id", column]).limit(limit).to_arrow()

        while True:
            found = self._ask(read)
            rows = sorted(zip((sign * found[column].to_numpy()).tolist(), found["id"].to_pylist(), strict=True))
            if len(rows) < limit or rows[count - 1][0] < rows[-1][0]:
                return [str(id) for _, id in rows[:count]]
            limit *= 4


def is_library(path: Path) -> bool:
    """Whether a folder looks like a library."""
    return (path / f"{DOCUMENTS}.lance").is_dir()


def locate_library(folder: str) -> str:
    """The library inside a folder of documents; the folder itself if there is none inside."""
    inside = Path(folder) / FOLDER_LIBRARY
    return str(inside) if "://" not in folder and not is_library(Path(folder)) and is_library(inside) else folder


def limit_malloc_arenas() -> None:
    """Limit glibc's pools of freed memory to one per core.

    By default it makes up to eight per core, for the threads to use, and returns hardly any of it to the system. A
    library that is written and read by dozens of threads would take twice the memory it needs, and more every hour.
    """
    if sys.platform == "linux" and hasattr(libc := ctypes.CDLL(None), "mallopt"):
        libc.mallopt(ARENA_MAX, usable_cores())


def _schema_with(model: LibraryModel) -> pa.Schema:
    return schema_for(model.width, model.vectors).with_metadata({MODEL_KEY: model.to_json()})


def _connect(address: str, create: bool) -> Any:
    lancedb = load_lancedb()
    path = Path(address)
    if "://" not in address and not create and not path.is_dir():
        if path.exists():
            raise NotALibrary(
                f"{address} is a file, not a library. Make a library of it: longmatch index LIBRARY {address}."
            )
        raise NotALibrary(f"{address} does not exist. Make a library: longmatch index {address} FILES.")
    with storage_errors(address):
        return lancedb.connect(address, session=lancedb.Session(INDEX_CACHE, METADATA_CACHE))


def _model_of(table: Any, address: str) -> LibraryModel:
    text = (table.schema.metadata or {}).get(MODEL_KEY.encode())
    if text is None:
        raise NotALibrary(f"{address} holds tables that longmatch did not make. Name another folder.")
    return LibraryModel.from_json(text.decode(), address)


def _table_exists(database: Any, address: str, table: str) -> bool:
    """Whether a table exists; one whose creation was killed is listed, but has neither a version nor rows."""
    if table not in database.list_tables().tables:
        return False
    folder = Path(address) / f"{table}.lance"
    return "://" in address or any(folder.glob("_versions/*.manifest")) or any(folder.glob("data/*"))


def _query(table: Any, columns: Sequence[str], where: str | None) -> Any:
    """Select columns; those that an older library lacks are omitted."""
    present = set(table.schema.names)
    query = table.search().select([column for column in columns if column in present]).limit(NO_LIMIT)
    return query.where(where) if where else query


def _merge(table: Any, key: str, rows: pa.Table) -> pa.Table:
    """Returns the rows with the columns of the table: an older library may lack some, and have others."""
    rows = rows.select([name for name in rows.column_names if name in set(table.schema.names)])
    for field in table.schema:
        if field.name not in rows.column_names:
            rows = rows.append_column(field, pa.nulls(rows.num_rows, field.type))
    table.merge_insert(key).when_matched_update_all().when_not_matched_insert_all().execute(rows)
    return rows


def sql_in(column: str, values: Sequence[str]) -> str:
    """The SQL condition that a column has one of some values.

    >>> sql_in("id", ["a", "it's"]), sql_in("id", [])
    ("id IN ('a', 'it''s')", 'FALSE')
    """
    return f"{column} IN ({', '.join(map(quoted, values))})" if values else "FALSE"


class _LazyPackage(ModuleType):
    """A package whose own file is run when a name of it is first asked for; its modules can be imported before."""

    def __init__(self, spec: ModuleSpec) -> None:
        super().__init__(spec.name)
        self.__spec__, self.__path__ = spec, list(spec.submodule_search_locations or [])

    def __getattr__(self, name: str) -> Any:
        spec = self.__dict__.get("__spec__")
        if name.startswith("__") or spec is None or spec.loader is None or "__complete__" in self.__dict__:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        self.__dict__["__complete__"] = True
        spec.loader.exec_module(self)
        return getattr(self, name)


def load_lancedb() -> Any:
    """The module `lancedb`."""
    if "lancedb" not in sys.modules and CLIENT not in sys.modules:
        spec = find_spec(CLIENT)
        if spec is not None:
            sys.modules[CLIENT] = _LazyPackage(spec)
    return import_module("lancedb")
