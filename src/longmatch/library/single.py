"""One file at a time, its documents read and encoded elsewhere: what a server adds to a library."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from longmatch.default.encoding import Encoding
from longmatch.documents.unique_names import UniqueNames
from longmatch.library.files import SourcePaths, source_file
from longmatch.library.rows import to_table
from longmatch.library.store import Store
from longmatch.library.writer import Writer


def put_documents(
    writer: Writer, source_paths: SourcePaths, path: Path, encodings: Sequence[Encoding], problems: Sequence[str]
) -> list[str]:
    """Store the documents of a file and the file's record, with what could not be read of it; returns their ids.

    The record is last, as in `IndexingRun`: if killed before, the file counts as not indexed, and adding it again
    replaces its documents. No document of another file is replaced.
    """
    file = source_file(path, source_paths.source(path))
    taken = {id for id, source in _sources(writer.store) if source != file.source}
    unique_id = UniqueNames(taken.__contains__)
    stored = []
    for encoding in encodings:
        named = replace(encoding.document, id=unique_id(encoding.document.id), source=file.source)
        stored.append(replace(encoding, sentences=replace(encoding.sentences, document=named)))
    writer.put(to_table(stored, writer.store.model.vectors))
    writer.store.put_files([file.record(problems)])
    return [encoding.document.id for encoding in stored]


def _sources(store: Store) -> Iterator[tuple[str, str]]:
    rows = store.read(["id", "source"])
    return zip(rows["id"].to_pylist(), rows["source"].to_pylist(), strict=True)
