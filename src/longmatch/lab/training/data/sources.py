"""Sources of training documents: data folders, JSON Lines files, folders of files; and the label files beside them."""

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from longmatch.documents.document import Document
from longmatch.documents.formats import JSONL_SUFFIXES, is_readable
from longmatch.documents.jsonl import parse_line
from longmatch.documents.read import find_files, read
from longmatch.errors import LongmatchError, ReadError
from longmatch.lab.datasets.collection import DOCUMENT_FILES, set_name
from longmatch.lab.datasets.prepared import documents_digest, require_text
from longmatch.lab.datasets.records import SPLITS, Pair, Split, iterate_lines, read_table
from longmatch.lab.datasets.splits import DEFAULT
from longmatch.lab.store.documents import DocumentSource
from longmatch.lab.store.layer import Unreadable

LABEL_FILES = ("pairs.tsv", "qrels.tsv", "classes.tsv")
LINKS_FILE = "links.tsv"  # used only if there are neither pairs nor judgements
WHOLE = 256 * 2**20  # bytes: larger files are identified by size and modification time, not by content
_SPLITS: dict[str, Split] = {split: split for split in SPLITS}


class Item(NamedTuple):
    """A document before it is read: a line of a JSON Lines file, or a file."""

    path: Path
    id: str  # of a file; a line has its own
    number: int  # of the line
    line: str
    prefix: str  # of the id, where documents come from several sources


@dataclass(frozen=True)
class Source:
    """Documents and their label files."""

    name: str
    path: Path
    files: tuple[Path, ...]
    labels: tuple[Path, ...]
    prefix: str = ""
    documents: str = ""  # the name of the documents' folder, where the labels give the source another

    def items(self) -> Iterator[Item]:
        """The documents, not yet read, one at a time."""
        for file in self.files:
            require_text(file)
            if file.name.lower().endswith(JSONL_SUFFIXES):
                lines = ((number, line) for number, line in iterate_lines(file) if line.strip())
                yield from (Item(file, "", number, line, self.prefix) for number, line in lines)
            else:
                yield Item(file, self._id(file), 0, "", self.prefix)

    def fingerprint(self) -> str:
        """Changes when the documents do; of a single JSON Lines file the digest that evaluation knows it by."""
        if not self.prefix and len(self.files) == 1 and self.files[0].name.lower().endswith(JSONL_SUFFIXES):
            return _state(self.files[0])[:16]
        digest = hashlib.sha256(self.prefix.encode())
        for file in self.files:
            digest.update(f"\0{self._id(file)}\0{_state(file)}".encode())
        return digest.hexdigest()[:16]

    def _id(self, file: Path) -> str:
        return file.relative_to(self.path).as_posix() if self.path.is_dir() else file.name


def document_source(sources: Sequence[Source]) -> DocumentSource[Item]:
    """The documents of all sources, in order, for a store of their tokens."""
    fingerprints = [source.fingerprint() for source in sources]
    several = hashlib.sha256(" ".join(fingerprints).encode()).hexdigest()[:16]
    return DocumentSource(
        "+".join(source.documents or source.name for source in sources)[:60],
        several if len(sources) > 1 else fingerprints[0],
        lambda: (item for source in sources for item in source.items()),
        read_item,
    )


def _state(file: Path) -> str:
    facts = file.stat()
    if facts.st_size > WHOLE:
        return hashlib.sha256(f"{facts.st_size} bytes of {facts.st_mtime_ns}".encode()).hexdigest()
    return documents_digest(file)


def read_item(item: Item) -> Document | Unreadable:
    """Read the document. An unreadable one is skipped; a line that is not a document is an error."""
    try:
        found = parse_line(item.line.encode(), item.path, item.number) if item.line else read(item.path, item.id)
    except ReadError as error:
        try:  # the id of a line that is not a document
            record = {"id": item.id} if item.id else json.loads(item.line)
        except (ValueError, RecursionError):
            record = {}
        id = record.get("id") if isinstance(record, dict) else None
        if not id:
            raise
        return Unreadable(f"{item.prefix}{id}", str(error))
    assert found is not None
    return replace(found, id=item.prefix + found.id)


def find_sources(paths: Iterable[str | Path]) -> list[Source]:
    """Resolve paths to sources: folders, JSON Lines files, and .tsv files with labels.

    A .tsv file labels the documents named before it, or else those beside it, and replaces the label files found there.
    With several sources, each document's id is prefixed with its source's name.
    """
    found: list[Source] = []
    own_labels: list[bool] = []
    for path in map(Path, paths):
        if not path.exists():
            raise ReadError(path, "does not exist", "Check the name.")
        if path.suffix.lower() != ".tsv":
            found.append(_source(path))
            own_labels.append(False)
        elif found:
            kept = found[-1].labels if own_labels[-1] else ()
            found[-1], own_labels[-1] = replace(found[-1], labels=(*kept, path)), True
        else:
            beside = _source(path.parent)
            found.append(replace(beside, name=set_name(path), labels=(path,), documents=beside.name))
            own_labels.append(True)
    if not found:
        raise LongmatchError("There is nothing to learn from. Name a data folder, a JSON Lines file or a folder.")
    if len(found) == 1:
        return found
    names = [source.name for source in found]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise LongmatchError(f"Two sources of documents are called {twice}. Rename one: ids begin with that name.")
    return [replace(source, prefix=f"{source.name}/") for source in found]


def _source(path: Path) -> Source:
    folder = path if path.is_dir() else path.parent
    if path.is_dir():
        collection = [path / name for name in DOCUMENT_FILES if (path / name).is_file()]
        files = tuple(collection[:1] or find_files(path))
    else:
        files = (path,) if is_readable(path.name) else ()
    if not files:
        kinds = "documents.jsonl (or .jsonl.xz, .jsonl.gz), or other files that longmatch reads"
        raise ReadError(path, "holds no documents", f"Name a folder with {kinds}.")
    named_by_folder = path.is_dir() or path.name in DOCUMENT_FILES
    name = folder.resolve().name if named_by_folder else path.name.partition(".")[0]
    labels = tuple(folder / file for file in LABEL_FILES if (folder / file).is_file())
    if not any(file.name in ("pairs.tsv", "qrels.tsv") for file in labels) and (folder / LINKS_FILE).is_file():
        labels += (folder / LINKS_FILE,)
    return Source(name, path, files, labels)


@dataclass(frozen=True)
class PairLabels:
    """A label file of pairs or judgements."""

    path: Path
    rows: tuple[Pair, ...]
    judged: bool  # judgements: a row belongs to its query's split, whatever the document
    has_negatives: bool  # has labels, so it lists its own non-matches
    split_by_id: bool  # splits are derived from ids


class ClassRow(NamedTuple):
    """A document's class."""

    split: Split
    document: str
    label: str


@dataclass(frozen=True)
class ClassLabels:
    """A label file of classes; two documents of one class match."""

    path: Path
    rows: tuple[ClassRow, ...]


def read_labels(path: Path) -> PairLabels | ClassLabels:
    """Read a label file of any kind."""
    columns = next((tuple(line.split("\t")) for _, line in iterate_lines(path)), ())
    needed = set(columns) - {"split"}
    rows = [dict(zip(columns, cells, strict=True)) for cells in read_table(path, columns)] if columns else []
    if len(set(columns)) == len(columns):
        if needed == {"document", "label"}:
            splits = (_split(path, row["split"]) if "split" in row else DEFAULT.of(row["document"]) for row in rows)
            classes = zip(splits, rows, strict=True)
            return ClassLabels(path, tuple(ClassRow(split, row["document"], row["label"]) for split, row in classes))
        if needed == {"query", "document", "grade"}:
            pairs = tuple(_pair(path, row, "query", "document", "grade") for row in rows)
            return PairLabels(path, pairs, True, has_negatives=False, split_by_id="split" not in columns)
        if needed - {"label"} == {"source", "target"}:
            pairs = tuple(_pair(path, row, "source", "target", "label") for row in rows)
            return PairLabels(path, pairs, False, has_negatives="label" in columns, split_by_id="split" not in columns)
    raise ReadError(
        path,
        f"starts with the columns {', '.join(columns) or 'none'}, which longmatch cannot learn from",
        "Name them source and target (and label), or query, document and grade, or document and label; split may be "
        "added.",
    )


def _pair(path: Path, row: dict[str, str], first: str, second: str, number: str) -> Pair:
    source, target = row[first], row[second]
    split = _split(path, row["split"]) if "split" in row else DEFAULT.of_pair(source, target)
    value = row.get(number, "1")
    if number == "grade" and value.isascii() and value.isdigit():
        return Pair(split, source, target, int(int(value) > 0))
    if value not in ("0", "1"):
        wanted = "0 or 1" if number == "label" else "a whole number from 0 up"
        raise ReadError(path, f"has a {number} {value!r}", f"That should be {wanted}.")
    return Pair(split, source, target, int(value))


def _split(path: Path, name: str) -> Split:
    if name not in _SPLITS:
        raise ReadError(path, f"has a split {name!r}", f"It is one of {', '.join(SPLITS)}.")
    return _SPLITS[name]
