"""One document at a time, read and encoded elsewhere: what a server adds to a library."""

from dataclasses import replace
from pathlib import Path

from longmatch.default.encoding import Encoding
from longmatch.library.files import SourceFile, SourcePaths, source_file
from longmatch.library.rows import to_table
from longmatch.library.store import Store
from longmatch.library.writer import Writer


def put_document(writer: Writer, source_paths: SourcePaths, path: Path, encoding: Encoding) -> str:
    """Store the document of a file and the file's record; returns the document's id, by the name of the file.

    The record is last, as in `IndexingRun`: if killed before, the file counts as not indexed, and adding it again
    replaces its document. No document of another file is replaced.
    """
    file = source_file(path, source_paths.source(path))
    id = _id_for(file, writer.store)
    named = replace(encoding.document, id=id, source=file.source)
    stored = replace(encoding, sentences=replace(encoding.sentences, document=named))
    writer.put(to_table([stored], writer.store.model.vectors))
    writer.store.put_files([file.record([])])
    return id


def _id_for(file: SourceFile, store: Store) -> str:
    """The id that the file's document has, or the first of `name`, `name (2)` ... that no document has."""
    rows = store.read(["id", "source"])
    sources = dict(zip(rows["id"].to_pylist(), rows["source"].to_pylist(), strict=True))
    id, count = file.id, 1
    while id in sources and sources[id] != file.source:
        count += 1
        id = f"{file.id} ({count})"
    return id
