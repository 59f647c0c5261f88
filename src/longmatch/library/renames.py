"""Files with another name or place than before: their documents are kept as they were read and encoded."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import Any

from longmatch.default.encoding import Encoding
from longmatch.documents.formats import suffix_of
from longmatch.library.files import SourceFile, Survey
from longmatch.library.rows import ENCODING_COLUMNS, to_table
from longmatch.library.writer import Writer

BATCH = 64  # documents in one commit
READS_OTHERS = (".tex",)  # what such a file includes depends on where it lies


@dataclass(frozen=True)
class Rename:
    """A file, where it was before, and the ids of its documents: the new by the old."""

    before: str  # source
    file: SourceFile
    ids: Mapping[str, str]


def renamed_files(
    files: Survey, records: Mapping[str, Mapping[str, Any]], may_remove: Callable[[str], bool]
) -> list[tuple[str, SourceFile]]:
    """New files with the content of one that is gone, each with where that was; each stands for one.

    `may_remove` says of a source that is gone whether its documents need not stay under their old names.
    """
    gone: dict[tuple[str, str], list[str]] = defaultdict(list)
    for source in files.gone:
        record = records[source]
        if record["hash"] and not record["problems"] and may_remove(source):
            gone[record["hash"], suffix_of(source)].append(source)
    found = []
    for file in files.to_read:
        suffix = suffix_of(file.path.name)
        places = gone.get((file.hash, suffix), [])
        if places and file.source not in records and file.description is None and suffix not in READS_OTHERS:
            found.append((places.pop(0), file))
    return found


def renamed_id(id: str, before: str, file_id: str) -> str:
    """What a document is called after its file was renamed; documents that do not have their file's name keep theirs.

    >>> renamed_id("old/a.txt", "papers/old/a.txt", "b.txt"), renamed_id("a.txt (2)", "papers/a.txt", "b.txt")
    ('b.txt', 'b.txt')
    >>> renamed_id("a.zip#x.txt", "papers/a.zip", "b.zip"), renamed_id("r17", "papers/a.jsonl", "b.jsonl")
    ('b.zip#x.txt', 'r17')
    """
    for name in _names(before):
        rest = id.removeprefix(name)
        if rest != id and rest[:1] in ("", " ", "#"):
            return file_id + (rest if rest.startswith("#") else "")
    return id


def _names(source: str) -> list[str]:
    """What a file may have been called: its path, relative to any folder above it."""
    parts = PurePosixPath(source).parts
    return ["/".join(parts[start:]) for start in range(len(parts))]


def rename_documents(writer: Writer, renames: Sequence[Rename]) -> None:
    """Store the documents of renamed files under their new names, with the vectors they have.

    New rows come first, then old ones go, then the files are recorded: if killed in between, the next run repeats it.
    """
    moved = [(old, new, rename) for rename in renames for old, new in sorted(rename.ids.items())]
    for start in range(0, len(moved), BATCH):
        batch = moved[start : start + BATCH]
        rows = {row.id: row for row in writer.store.fetch([old for old, _, _ in batch], ENCODING_COLUMNS)}
        encodings = [_renamed(rows[old].encoding(), new, rename, writer) for old, new, rename in batch]
        writer.put(to_table(encodings, writer.store.model.vectors))
        writer.remove([old for old, new, _ in batch if old != new])
    writer.store.put_files([rename.file.record([]) for rename in renames])
    writer.store.delete_files([rename.before for rename in renames])


def _renamed(encoding: Encoding, id: str, rename: Rename, writer: Writer) -> Encoding:
    """A document that has no title is called by its name, also by its new one."""
    document = replace(encoding.document, id=id, source=rename.file.source)
    title = encoding.title_vector
    if document.title in _names(rename.before):
        document = replace(document, title=rename.file.id)
        title = None if title is None else writer.encode_title(document.title)
    return replace(encoding, sentences=replace(encoding.sentences, document=document), title_vector=title)
