"""The files of a library: which are new, changed, unchanged or gone, and their documents."""

import json
import os
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from hashlib import blake2b, file_digest
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from longmatch.documents import ocr
from longmatch.documents.checks import exists, is_gone, real_path
from longmatch.documents.containers import Found, Member, documents_of, grouped, members, read_group
from longmatch.documents.decoding import whole
from longmatch.documents.document import Document
from longmatch.documents.formats import container_of, holds_many, may_crash, status_of_readable, suffixes
from longmatch.documents.read import list_folder
from longmatch.errors import ReadError
from longmatch.library.conditions import quoted
from longmatch.library.errors import LibraryError
from longmatch.parallel import parallel_map

if TYPE_CHECKING:
    from longmatch.library.store import Store

SETTLED = 2.0  # seconds: a file modified this recently may change again without a new timestamp
HASH_DIGITS = 32  # of a file's content; those of a description follow
FILES_PER_PROCESS, BYTES_PER_PROCESS = 6, 100_000  # with fewer, starting a process takes longer than reading them here
MOST_REMARKS = 10  # on a file
AHEAD = 8  # files read ahead per process


@dataclass(frozen=True)
class DescribedFile:
    """A file whose title and metadata are known from elsewhere, such as a reference manager.

    `folder` is where such files lie: one that is no longer there is gone.
    """

    path: Path
    id: str
    title: str
    metadata: Mapping[str, Any]
    folder: Path

    def absolute(self) -> "DescribedFile":
        """The same with an absolute path."""
        return replace(self, path=self.path.absolute(), folder=self.folder.absolute())

    @cached_property
    def digest(self) -> str:
        """Changes when title or metadata do."""
        facts = json.dumps([self.title, dict(self.metadata)], sort_keys=True, default=str)
        return blake2b(facts.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


AnyFile: TypeAlias = Path | DescribedFile


@dataclass(frozen=True)
class SourceFile:
    """A file to read, the id of its document, and its state, by which changes are detected."""

    path: Path
    id: str
    source: str  # its path as stored, see SourcePaths
    hash: str
    size: int
    modified: int
    description: DescribedFile | None = None

    @property
    def is_collection(self) -> bool:
        """Whether it is a file of many documents: JSON Lines, a mailbox, a zip file."""
        return holds_many(self.path)

    def record(self, problems: Sequence[str]) -> dict[str, Any]:
        """The row to store."""
        state: dict[str, Any] = {"hash": self.hash, "size": self.size, "modified": _settled(self.modified)}
        return {"path": self.source, **state, "problems": list(problems)}


@dataclass
class Survey:
    """The files in some paths, compared with the library's records."""

    to_read: list[SourceFile] = field(default_factory=list)
    unchanged: list[str] = field(default_factory=list)  # sources
    touched: list[dict[str, Any]] = field(default_factory=list)  # records of unchanged files with their new times
    gone: list[str] = field(default_factory=list)  # sources
    problems: list[ReadError] = field(default_factory=list)  # paths that do not exist or cannot be opened
    known_problems: list[tuple[str, str]] = field(default_factory=list)  # source and error message of unchanged files
    passed_over: list[Path] = field(default_factory=list)  # of a format that longmatch does not read


class SourcePaths:
    """Paths as stored: relative to the library's parent folder if they are below it, absolute otherwise.

    So a folder can be moved together with the library in it.
    """

    def __init__(self, root: Path | None) -> None:
        self.root = root

    def source(self, path: Path) -> str:
        """A path as stored."""
        absolute = real_path(path)
        if self.root is not None and absolute.is_relative_to(self.root):
            return absolute.relative_to(self.root).as_posix()
        return absolute.as_posix()

    def path(self, source: str) -> Path:
        """The path of a stored source."""
        return Path(source) if self.root is None else self.root / source


def survey(paths: Iterable[AnyFile], records: dict[str, dict[str, Any]], source_paths: SourcePaths) -> Survey:
    """Find every file in `paths` and compare it with its record; files are opened if their time or size changed."""
    result = Survey()
    seen: set[str] = set()
    paths = list(paths)
    for path, id, description in _files_with_ids(paths, result):
        source = source_paths.source(path)
        if source in seen:
            continue
        seen.add(source)
        if whole(source) != source:
            result.problems.append(ReadError(whole(str(path)), "has a name that is not valid UTF-8", "Rename it."))
            continue
        try:
            record = records.get(source)
            lacked_ocr = record is not None and any(ocr.INSTALL in problem for problem in record["problems"])
            known = None if lacked_ocr and ocr.is_available() else record
            file = _if_changed(path, id, source, known, description)
            modified = _settled(path.stat().st_mtime_ns)
        except ReadError as error:
            result.problems.append(error)
            continue
        except OSError as error:
            result.problems.append(
                ReadError(path, f"cannot be opened ({error.strerror})", "Check that you may read it.")
            )
            continue
        if file is not None:
            result.to_read.append(file)
        else:
            result.unchanged.append(source)
            if modified != records[source]["modified"]:
                result.touched.append(records[source] | {"modified": modified})
            result.known_problems += [(source, problem) for problem in records[source]["problems"]]
    roots = {real_path(path.folder if isinstance(path, DescribedFile) else path) for path in paths}
    for source in records.keys() - seen:
        path = source_paths.path(source)
        if not roots.isdisjoint((path, *path.parents)) and is_gone(path):
            result.gone.append(source)
    result.gone.sort()
    result.passed_over = list(dict.fromkeys(result.passed_over))
    return result


def _files_with_ids(paths: Iterable[AnyFile], result: Survey) -> Iterator[tuple[Path, str, DescribedFile | None]]:
    """Files, the ids of their documents and their descriptions; what cannot be read is noted in `result`."""
    on_error = result.problems.append
    for file_or_path in paths:
        description = file_or_path if isinstance(file_or_path, DescribedFile) else None
        path = file_or_path.path if isinstance(file_or_path, DescribedFile) else file_or_path
        try:
            is_there = exists(path)
        except ReadError as error:
            on_error(error)
            continue
        if path.is_dir():
            files = list_folder(path)
            result.passed_over += files.unsupported
            yield from ((file, file.relative_to(path).as_posix(), None) for file in files.readable)
            if not files.readable:
                on_error(ReadError(path, "holds no file that longmatch reads", f"It reads {', '.join(suffixes())}."))
        elif is_there:
            yield path, description.id if description else path.name, description
        else:
            on_error(ReadError(path, "does not exist", "Check the name."))


def _if_changed(
    path: Path, id: str, source: str, record: dict[str, Any] | None, description: DescribedFile | None = None
) -> SourceFile | None:
    """The file if it is new or has changed, or its description has, else None."""
    stat = status_of_readable(path)
    described = description.digest if description else ""
    is_same = record is not None and record["size"] == stat.st_size and record["modified"] == stat.st_mtime_ns
    if record and is_same and record["hash"][HASH_DIGITS:] == described:
        return None
    found = source_file(path, source)
    digest = found.hash + described
    if record and record["hash"] == digest:
        return None
    return replace(found, id=id, hash=digest, description=description)


def source_file(path: Path, source: str) -> SourceFile:
    """A file as it is now; its document is called by its name."""
    stat = path.stat()
    return SourceFile(path, path.name, source, file_hash(path), stat.st_size, stat.st_mtime_ns)


class IndexedFiles:
    """The files that the documents of a library come from."""

    def __init__(self, store: "Store", paths: SourcePaths) -> None:
        self._store, self._paths = store, paths

    def ids_of(self, path: str | os.PathLike[str]) -> list[str]:
        """The ids of the documents that come from a file."""
        condition = f"source = {quoted(self._paths.source(Path(path)))}"
        return sorted(self._store.read(["id"], condition)["id"].to_pylist())

    def hashes(self) -> dict[Path, str]:
        """The files that were indexed, each with a hash of its content."""
        records = self._store.files()
        return {self._paths.path(source): row["hash"][:HASH_DIGITS] for source, row in records.items()}

    def unchanged(self, document: Document) -> Path:
        """The file of a document; raises LibraryError if it is gone, or is not what was indexed."""
        path = Path(document.source)
        record = self._store.files().get(self._paths.source(path))
        try:
            content = record and record | {"hash": record["hash"][:HASH_DIGITS]}  # without that of a description
            if content and _if_changed(path, "", "", content) is None:
                return path
            problem = "has changed since it was indexed" if path.exists() else "is no longer where it was indexed"
        except (OSError, ReadError):
            problem = "is no longer where it was indexed"
        raise LibraryError(f"The file of {document.id} {problem}. Put it back, or index the folder again.")


def _settled(modified: int) -> int:
    """A file's time as stored; 0, if it may still be written to, means: compare the content next time."""
    return modified if time.time_ns() - modified > SETTLED * 1e9 else 0


def file_hash(path: Path) -> str:
    """Of a file's content."""
    with path.open("rb") as file:
        return file_digest(file, partial(blake2b, digest_size=HASH_DIGITS // 2)).hexdigest()


@dataclass
class FileRead:
    """A file and what comes of reading it; problems and remarks are complete once its documents are exhausted."""

    file: SourceFile
    found: Iterable[Found]
    problems: list[ReadError] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)  # on a page without text, for example

    @property
    def documents(self) -> Iterator[Document]:
        """Its documents, each once."""
        for found in self.found:
            if isinstance(found, Document):
                self.remarks += found.remarks
                yield found
            elif isinstance(found, ReadError):
                self.problems.append(found)
            else:
                self.remarks.append(found)
        more = len(self.remarks) - MOST_REMARKS
        if more > 0:
            self.remarks[MOST_REMARKS:] = [f"{self.file.path}: {more:,} more remarks like these."]


def read_files(files: Sequence[SourceFile], processes: int | None = None) -> Iterator[FileRead]:
    """Read files in order. Lines and messages of files that hold many are streamed in this process, as such files may
    be large; the files in zip files are read like others. What may crash its reader is read in another process.
    """
    collections = [file.is_collection for file in files]
    single = [file for file, is_collection in zip(files, collections, strict=True) if not is_collection]
    apart = any(may_crash(file.path.name) for file in single)
    workers = _workers(len(single), sum(file.size for file in single), processes)
    with ocr.relayed() if apart else nullcontext() as pages:
        work = partial(read_file, pages=pages)
        results = parallel_map(work, single, workers, chunk=1, ahead=AHEAD, on_crash=_crashed, apart=apart)
        for file, is_collection in zip(files, collections, strict=True):
            yield FileRead(file, _stream(file, processes) if is_collection else next(results))


def _workers(files: int, size: int, processes: int | None) -> int:
    worth = min(files // FILES_PER_PROCESS, size // BYTES_PER_PROCESS)
    return min(processes or os.cpu_count() or 1, max(1, worth))


def read_file(file: SourceFile, pages: Path | None = None) -> list[Found]:
    """Read a file of one document, to which others may be attached.

    The pages that it reads by OCR are told in the file `pages` (`ocr.relayed`).
    """
    with ocr.relaying(pages) if pages else nullcontext():
        first, *attached = documents_of(file.path, file.id)
    if (known := file.description) and isinstance(first, Document):  # what the file says in addition is kept
        first = replace(first, title=known.title or first.title, metadata={**first.metadata, **known.metadata})
    return [first, *attached]


def _stream(file: SourceFile, processes: int | None) -> Iterator[Found]:
    """The members of a file in groups: those of a zip file in parallel, others one after the other."""
    groups = grouped(members(file.path))
    read, on_crash = partial(_read_listed, id=file.id), partial(_crashed_group, id=file.id)
    container = container_of(file.path)
    if container is not None and container.of_files:
        known = list(groups)
        workers = _workers(sum(map(len, known)), file.size, processes)
        apart = any(member.may_crash for group in known for member in group)
        for found in parallel_map(read, known, workers, chunk=1, ahead=2, on_crash=on_crash, apart=apart):
            yield from found
        return
    for group in groups:
        if any(member.may_crash for member in group):
            for found in parallel_map(read, [group], chunk=1, on_crash=on_crash, apart=True):
                yield from found
        else:
            yield from read_group(group, file.id)


def _read_listed(group: Sequence[Member], id: str) -> list[Found]:
    return list(read_group(group, id))


def _crashed_group(group: Sequence[Member], id: str) -> list[Found]:
    """Read the members of a group whose process died one by one."""
    if len(group) == 1:
        return list(group[0].after_crash(id))
    singles, on_crash = [(member,) for member in group], partial(_crashed_group, id=id)
    read = partial(_read_listed, id=id)
    each = parallel_map(read, singles, 2, chunk=1, ahead=1, on_crash=on_crash, apart=True)
    return [found for one in each for found in one]


def _crashed(file: SourceFile) -> list[Found]:
    return [found for member in members(file.path) for found in member.after_crash(file.id)]
