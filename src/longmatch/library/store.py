"""The documents and their encodings in LanceDB: a folder, or an address of object storage.

Every change is one atomic commit, so that a process killed at any moment leaves the library as before or after.
"""

import warnings
from collections.abc import Iterator, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa

from longmatch.library.errors import NotALibrary, filter_error, in_a_sentence, is_filter_error
from longmatch.library.facts import Facts
from longmatch.library.filters import condition
from longmatch.library.learnt import LEARNT_SCHEMA, Learnt
from longmatch.library.rows import Row, rows_of, schema_for

DOCUMENTS, FILES = "documents", "files"
REENCODED = "documents_again"  # documents being encoded with another model
LEARNT = "learnt"  # what the backbone has learnt from the documents
FACTS = "longmatch"  # the key of the facts in the table's own description
BESIDE = ".longmatch"  # the library kept in a folder of documents, so that the second question is quick
INDEX_CACHE, METADATA_CACHE = 1 << 28, 1 << 26  # the most bytes kept in memory of what was read
MANY = 10**9  # rows: a limit is asked for where none is meant
VERSIONS = 64  # commits seen before the tables are opened anew
FRAGMENTS = 24  # commits that may lie side by side before they are joined

FILE_SCHEMA = pa.schema(
    [
        ("path", pa.string()),
        ("hash", pa.string()),
        ("size", pa.int64()),
        ("modified", pa.int64()),
        ("problems", pa.list_(pa.string())),
    ]
)


class Store:
    """The tables of one library."""

    def __init__(self, address: str, database: Any, facts: Facts, table: str = DOCUMENTS) -> None:
        self.address, self.facts = address, facts
        self._database = database
        self._documents = database.open_table(table)
        self._opened = self.version

    @classmethod
    def open(cls, address: str, table: str = DOCUMENTS) -> "Store":
        """Open what is there; NotALibrary where there is nothing."""
        database = _connect(address, create=False)
        with in_a_sentence(address):
            if not _is_there(database, address, table):
                raise NotALibrary(f"{address} is not a library. Make one: longmatch index {address} FILES.")
            return cls(address, database, _facts_of(database.open_table(table), address), table)

    @classmethod
    def create(cls, address: str, facts: Facts, table: str = DOCUMENTS) -> "Store":
        """A new, empty library, or the one that is there."""
        database = _connect(address, create=True)
        with in_a_sentence(address):
            schema = schema_for(facts.width, facts.vectors).with_metadata({FACTS: facts.to_json()})
            if not _is_there(database, address, FILES):
                database.create_table(FILES, schema=FILE_SCHEMA)
            if not _is_there(database, address, table):
                database.create_table(table, schema=schema)  # last: with it the library is there
        return cls.open(address, table)

    def become(self, other: "Store") -> None:
        """Take over all documents of another table of the library, in one commit, and drop that table."""
        with in_a_sentence(self.address):
            schema = schema_for(other.facts.width, other.facts.vectors).with_metadata({FACTS: other.facts.to_json()})
            rows = _query(other._documents, schema.names, None).to_batches(batch_size=64)
            reader = pa.RecordBatchReader.from_batches(schema, (batch.cast(schema) for batch in rows))
            self._database.create_table(DOCUMENTS, data=reader, schema=schema, mode="overwrite")
        other.drop()

    def drop(self) -> None:
        """Remove the table."""
        with in_a_sentence(self.address):
            self._database.drop_table(self._documents.name)

    @property
    def lacks_columns(self) -> bool:
        """Whether it was made before the last column was added."""
        return not set(schema_for(self.facts.width).names) <= set(self._documents.schema.names)

    @property
    def version(self) -> int:
        """A number that changes with every commit."""
        return int(self._documents.version)

    def refresh(self) -> None:
        """See what other processes have committed; one may have encoded all documents with another model."""
        with in_a_sentence(self.address):
            before = self.version
            self._documents.checkout_latest()
            if self.version != before:
                self.facts = _facts_of(self._documents, self.address)
            self._renew()

    def _renew(self) -> None:
        """Open the tables anew after many commits: what was cached of every version would stay in memory."""
        if self.version - self._opened >= VERSIONS:
            self._database = _connect(self.address, create=False)
            self._documents = self._database.open_table(self._documents.name)
            self._opened = self.version

    def __len__(self) -> int:
        with in_a_sentence(self.address):
            return int(self._documents.count_rows())

    def read(self, columns: Sequence[str], where: str | None = None) -> pa.Table:
        """These columns of all documents, or of those that fulfil a condition."""
        with in_a_sentence(self.address):
            try:
                return _query(self._documents, columns, where).to_arrow()
            except (OSError, RuntimeError):  # another process may have joined commits and dropped the old ones
                self._documents.checkout_latest()
                return _query(self._documents, columns, where).to_arrow()

    def filtered(self, where: str) -> set[str]:
        """The ids of the documents that fulfil a user's condition."""
        try:
            found = _query(self._documents, ["id"], condition(where)).to_arrow()
        except (RuntimeError, ValueError, OSError) as error:
            if is_filter_error(error):
                raise filter_error(where) from error
            with in_a_sentence(self.address):
                raise
        return set(found["id"].to_pylist())

    def fetch(self, ids: Sequence[str], columns: Sequence[str]) -> list[Row]:
        """These documents, in the order asked for; those that are not there are left out."""
        if not ids:
            return []
        found = {row.id: row for row in rows_of(self.read(columns, among("id", ids)))}
        return [found[id] for id in ids if id in found]

    def batches(self, columns: Sequence[str], rows: int = 64) -> Iterator[list[Row]]:
        """All documents, a few at a time."""
        with in_a_sentence(self.address):
            for batch in _query(self._documents, columns, None).to_batches(batch_size=rows):
                if batch.num_rows:
                    yield rows_of(pa.Table.from_batches([batch]))

    def put(self, rows: pa.Table) -> None:
        """Add documents, or replace those of the same id, in one commit."""
        with in_a_sentence(self.address):
            _merge(self._documents, "id", rows)
            self._renew()

    def delete(self, ids: Sequence[str]) -> None:
        """Remove documents in one commit."""
        with in_a_sentence(self.address):
            self._documents.delete(among("id", ids))

    def files(self) -> dict[str, dict[str, Any]]:
        """What is known of each file read so far, by its path."""
        with in_a_sentence(self.address):
            rows = _query(self._files, FILE_SCHEMA.names, None).to_arrow().to_pylist()
        return {row["path"]: row for row in rows}

    def put_files(self, files: Sequence[dict[str, Any]]) -> None:
        """Note that these files are in the library as they are now."""
        if files:
            with in_a_sentence(self.address):
                _merge(self._files, "path", pa.Table.from_pylist(list(files), schema=FILE_SCHEMA))

    def delete_files(self, paths: Sequence[str]) -> None:
        """Forget files."""
        if paths:
            with in_a_sentence(self.address):
                self._files.delete(among("path", paths))

    @property
    def _files(self) -> Any:
        return self._database.open_table(FILES)

    def learnt(self, digest: str | None = None) -> Learnt | None:
        """What the backbone that made the vectors has learnt from the documents, or what goes by that digest."""
        wanted = self.facts.change if digest is None else digest
        with in_a_sentence(self.address):
            if not wanted or not _is_there(self._database, self.address, LEARNT):
                return None
            rows = _query(self._database.open_table(LEARNT), LEARNT_SCHEMA.names, among("digest", [wanted])).to_arrow()
        return Learnt.of_row(rows.to_pylist()[0]) if len(rows) else None

    def put_learnt(self, learnt: Learnt) -> None:
        """Keep what was learnt; it counts from the moment the facts name it."""
        with in_a_sentence(self.address):
            if not _is_there(self._database, self.address, LEARNT):
                self._database.create_table(LEARNT, schema=LEARNT_SCHEMA)
            _merge(self._database.open_table(LEARNT), "digest", learnt.row())

    def forget_learnt(self, digest: str) -> None:
        """Drop what was learnt and is no longer used."""
        with in_a_sentence(self.address):
            self._database.open_table(LEARNT).delete(among("digest", [digest]))

    def tidy(self, exact_below: int) -> None:
        """Join small commits, bring the indices up to date, and drop what no version needs any more."""
        from lancedb.index import FTS, BTree, IvfRq

        with in_a_sentence(self.address):
            present = {index.columns[0] for index in self._documents.list_indices()}
            count = self._documents.count_rows()
            fragments = self._documents.stats()["fragment_stats"]["num_fragments"]
            if not count:
                return
            if "id" not in present:
                self._documents.create_index("id", config=BTree())
            if "text" not in present:
                self._documents.create_index("text", config=FTS(base_tokenizer="icu"))
            if count >= exact_below and "mean" not in present:
                self._documents.create_index("mean", config=IvfRq(distance_type="cosine"))
            if fragments > FRAGMENTS + count // 500:  # joining rewrites everything: the larger, the more rarely
                local = "://" not in self.address  # there a lock keeps other writers away
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", UserWarning)  # readers of old versions look again: see `read`
                    for table in (self._documents, self._files):
                        table.optimize(cleanup_older_than=timedelta(0) if local else None, delete_unverified=local)

    def nearest(self, vector: Any, count: int, where: str | None) -> list[str]:
        """The documents nearest to a vector, by the approximate index."""
        with in_a_sentence(self.address):
            query = self._documents.search(vector, vector_column_name="mean").distance_type("cosine")
            query = query.refine_factor(10).select(["id", "_distance"]).limit(count)
            return [
                str(id) for id in (query.where(where, prefilter=True) if where else query).to_arrow()["id"].to_pylist()
            ]

    def has_vector_index(self) -> bool:
        """Whether the approximate index has been made."""
        with in_a_sentence(self.address):
            return any(index.columns == ["mean"] for index in self._documents.list_indices())

    def find(self, words: str, count: int) -> list[str]:
        """The documents that hold words, best first, by the full-text index."""
        with in_a_sentence(self.address):
            found = self._documents.search(words, query_type="fts").select(["id", "_score"]).limit(count).to_arrow()
            return [str(id) for id in found["id"].to_pylist()]


def is_library(path: Path) -> bool:
    """Whether a folder looks like a library."""
    return (path / f"{DOCUMENTS}.lance").is_dir()


def beside(folder: str) -> str:
    """The library kept in a folder of documents, or the folder itself where there is none."""
    kept = Path(folder) / BESIDE
    return str(kept) if "://" not in folder and not is_library(Path(folder)) and is_library(kept) else folder


def _connect(address: str, create: bool) -> Any:
    import lancedb

    path = Path(address)
    if "://" not in address and not create and not path.is_dir():
        what = "is a file, not a library" if path.exists() else "does not exist"
        raise NotALibrary(f"{address} {what}. Make a library: longmatch index {address} FILES.")
    with in_a_sentence(address):
        return lancedb.connect(address, session=lancedb.Session(INDEX_CACHE, METADATA_CACHE))


def _facts_of(table: Any, address: str) -> Facts:
    text = (table.schema.metadata or {}).get(FACTS.encode())
    if text is None:
        raise NotALibrary(f"{address} holds tables that longmatch did not make. Name another folder.")
    return Facts.from_json(text.decode(), address)


def _is_there(database: Any, address: str, table: str) -> bool:
    """Whether a table is there: one whose making was killed is listed, but has neither a version nor rows."""
    if table not in database.list_tables().tables:
        return False
    folder = Path(address) / f"{table}.lance"
    return "://" in address or any(folder.glob("_versions/*.manifest")) or any(folder.glob("data/*"))


def _query(table: Any, columns: Sequence[str], where: str | None) -> Any:
    """These columns, as far as the table has them: one made before may lack some."""
    known = set(table.schema.names)
    query = table.search().select([column for column in columns if column in known]).limit(MANY)
    return query.where(where) if where else query


def _merge(table: Any, key: str, rows: pa.Table) -> None:
    rows = rows.select([name for name in rows.column_names if name in set(table.schema.names)])
    table.merge_insert(key).when_matched_update_all().when_not_matched_insert_all().execute(rows)


def among(column: str, values: Sequence[str]) -> str:
    """The condition that a column holds one of some values.

    >>> among("id", ["a", "it's"])
    "id IN ('a', 'it''s')"
    """
    quoted = ", ".join("'" + value.replace("'", "''") + "'" for value in values)
    return f"{column} IN ({quoted})"
