"""What a run of indexing changes: which documents are new, changed, unchanged, renamed or gone, and their ids."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import Any, TypeAlias

from longmatch.default.meaning import encode_texts
from longmatch.documents.checks import is_gone
from longmatch.documents.formats import suffix_of
from longmatch.documents.unique_names import UniqueNames
from longmatch.errors import ReadError
from longmatch.library.files import SourceFile, SourcePaths, Survey
from longmatch.library.rows import ENCODING_COLUMNS, to_table
from longmatch.library.store import Store
from longmatch.library.writer import Writer

Prune: TypeAlias = bool | Callable[[Path], bool]
"""Whether documents whose file is gone are removed; or of which files they are."""

BATCH = 64  # documents in one commit
READS_OTHERS = (".tex",)  # what such a file includes depends on where it lies


@dataclass
class IndexingSummary:
    """What indexing changed."""

    added: list[str] = field(default_factory=list)  # ids
    replaced: list[str] = field(default_factory=list)
    unchanged: int = 0  # documents
    vanished: list[str] = field(default_factory=list)  # ids whose file is gone, still in the library
    removed: list[str] = field(default_factory=list)
    renamed: list[tuple[str, str]] = field(default_factory=list)  # ids before and after; kept as they were encoded
    unreadable: list[tuple[str, str]] = field(default_factory=list)  # file, error message
    passed_over: list[str] = field(default_factory=list)  # files of a format that longmatch does not read
    remarks: list[str] = field(default_factory=list)  # on documents that were read: pages without text, for example

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return vars(self) | {
            "renamed": [{"before": before, "after": after} for before, after in self.renamed],
            "unreadable": [{"file": file, "problem": problem} for file, problem in self.unreadable],
        }


@dataclass(frozen=True)
class Rename:
    """A file, where it was before, and the ids of its documents: the new by the old."""

    before: str  # source
    file: SourceFile
    ids: Mapping[str, str]


class Changes:
    """Decides, document by document in file order, which are new, changed, unchanged or gone, and assigns their ids."""

    def __init__(self, store: Store, paths: SourcePaths, prune: Prune) -> None:
        self.paths, self._prune = paths, prune
        rows = store.read(["id", "hash", "source"]).to_pylist()
        self.stored: dict[str, tuple[str, str]] = {row["id"]: (row["hash"], row["source"]) for row in rows}
        self.ids_by_source: dict[str, set[str]] = defaultdict(set)  # before this run
        for id, (_, source) in self.stored.items():
            self.ids_by_source[source].add(id)
        self.assigned: set[str] = set()
        self._source: str | None = None  # the last file
        self._ids = UniqueNames()  # of its documents
        self.summary = IndexingSummary()

    def begin(self, files: Survey) -> None:
        """Keep the documents of unchanged files, and record what the survey found that is not read."""
        self.summary.passed_over += map(str, files.passed_over)
        for source in files.unchanged:
            ids = self.ids_by_source.get(source, set())
            self.assigned |= ids
            self.summary.unchanged += len(ids)
        self.summary.unreadable += [(error.path, str(error)) for error in files.problems]
        self.summary.unreadable += [(str(self.paths.path(file)), text) for file, text in files.known_problems]

    def assign(self, name: str, hash: str, source: str) -> tuple[str, bool]:
        """The id of a document called `name` with this content hash, and whether it needs to be encoded."""
        if source != self._source:  # the documents of a file follow each other
            self._source, self._ids = source, UniqueNames(lambda id: self._is_taken(id, source))
        id = self._ids(name)
        self.assigned.add(id)
        if self.stored.get(id) == (hash, source):
            self.summary.unchanged += 1
            return id, False
        (self.summary.replaced if id in self.stored else self.summary.added).append(id)
        self.stored[id] = hash, source
        return id, True

    def _is_taken(self, id: str, source: str) -> bool:
        """Whether an id was assigned, or belongs to a document of another file that is not gone."""
        if id in self.assigned:
            return True
        owner = self.stored[id][1] if id in self.stored else source
        return owner != source and not is_gone(self.paths.path(owner))

    def may_remove(self, source: str) -> bool:
        """Whether documents that are no longer in a file are removed, as where the file is gone."""
        return self._prune(self.paths.path(source)) if callable(self._prune) else self._prune

    def rename(self, before: str, file: SourceFile) -> Rename | None:
        """Give the documents of a renamed file their new ids; None where it has none, or one of these is taken."""
        ids = {id: renamed_id(id, before, file.id) for id in sorted(self.ids_by_source.get(before, ()))}
        own = (before, file.source)  # the latter where this was interrupted
        taken = (id in self.assigned or self.stored.get(id, ("", before))[1] not in own for id in ids.values())
        if not ids or any(taken):
            return None
        hashes = {new: self.stored.pop(old)[0] for old, new in ids.items()}
        self.stored |= {id: (hash, file.source) for id, hash in hashes.items()}
        self.assigned |= hashes.keys()
        self.summary.renamed += ids.items()
        return Rename(before, file, ids)

    def finish_file(
        self, file: SourceFile, problems: Sequence[ReadError], unseen: Iterable[str]
    ) -> tuple[dict[str, Any], list[str]]:
        """The record of a file that was read, and the ids to remove.

        `unseen` are the ids that the file had before and no longer has. They are kept if the file could not be read
        completely.
        """
        missing = [] if problems else self._missing(file.source, unseen)
        self.summary.unreadable += [(str(file.path), str(error)) for error in problems]
        record = file.record([str(error) for error in problems])
        if self.may_remove(file.source):
            return record, missing
        return record | ({"hash": "", "modified": 0} if missing else {}), []  # kept: read it again next time

    def finish(self, files: Survey) -> tuple[list[str], list[str]]:
        """The ids to remove because their files are gone, and the records of files to remove."""
        removed, sources = [], []
        for source in files.gone:
            missing = self._missing(source, self.ids_by_source.get(source, ()))
            if self.may_remove(source):
                removed += missing
                sources.append(source)
        return removed, sources

    def _missing(self, source: str, ids: Iterable[str]) -> list[str]:
        """Documents that are no longer in their file, to be removed or kept without one."""
        missing = sorted(id for id in ids if id not in self.assigned)
        (self.summary.removed if self.may_remove(source) else self.summary.vanished).extend(missing)
        return missing


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
        encodings = []
        for old, new, rename in batch:
            encoding = rows[old].encoding()
            document, title = replace(encoding.document, id=new, source=rename.file.source), encoding.title_vector
            if document.title in _names(rename.before):  # without a title it is called by its name, also by the new one
                document = replace(document, title=rename.file.id)
                title = None if title is None else encode_texts(writer.matcher().backbone, [document.title])[0]
            sentences = replace(encoding.sentences, document=document)
            encodings.append(replace(encoding, sentences=sentences, title_vector=title))
        writer.put(to_table(encodings, writer.store.model.vectors))
        writer.remove([old for old, new, _ in batch if old != new])
    writer.store.put_files([rename.file.record([]) for rename in renames])
    writer.store.delete_files([rename.before for rename in renames])
