"""Read documents of any supported format, one at a time or from whole folders."""

import os
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from longmatch.documents.checks import check_document, exists
from longmatch.documents.containers import documents_of, members
from longmatch.documents.document import Document
from longmatch.documents.formats import (
    holds_many,
    is_hidden,
    is_readable,
    read_single,
    split_address,
    supported,
)
from longmatch.documents.text import draft_text
from longmatch.documents.unique_names import UniqueNames
from longmatch.errors import LongmatchWarning, ReadError

LIBRARY_TABLE = "documents.lance"  # what makes a folder a library
LIBRARY_INDEX = "index"  # beside it


def read(path: str | Path, id: str | None = None) -> Document:
    """Read one document: a file, or `FILE#ID` for one document of a file that holds many.

    The ID is that in a JSON Lines file, the number of a message in a mailbox, or the name of a file in a zip file or
    attached to a message (`a.eml#b.pdf`, `inbox.mbox#3#b.pdf`). The
    document's id is `id` if given, else its id in the JSON Lines file, else the file name, with #ID where there is one.
    """
    document = read_quietly(path, id)
    for remark in document.remarks:
        _warn(remark)
    return document


def read_quietly(path: str | Path, id: str | None = None) -> Document:
    """Read one document; what its reader remarked on is in its `remarks`, and no warning is given."""
    path = Path(path)
    if not exists(path) and (address := split_address(path)) is not None:
        return _read_from_container(*address, id)
    if holds_many(path):
        return _read_from_container(path, None, id)
    return read_single(path, id or path.name)


def _warn(remark: str) -> None:
    warnings.warn(remark, LongmatchWarning, stacklevel=3)


def names_a_file(path: str | os.PathLike[str]) -> bool:
    """Whether there is a file of that name, or it is written as one document of a file that holds many."""
    return exists(Path(path)) or split_address(Path(path)) is not None


def read_all(paths: str | Path | Iterable[str | Path], on_error: Callable[[ReadError], None]) -> Iterator[Document]:
    """Yield the documents of files and folders; unreadable ones are passed to `on_error` and skipped.

    Ids are unique: the path relative to its folder in `paths`, a file name, or the id in a JSON Lines file.
    Raises ReadError if nothing could be read.
    """
    roots = [Path(p) for p in ([paths] if isinstance(paths, str | Path) else paths)]
    unique_id, is_empty = UniqueNames(), True
    for path, name in _files_with_ids(roots, on_error):
        for found in documents_of(path, name):
            if isinstance(found, ReadError):
                on_error(found)
            elif isinstance(found, str):
                _warn(found)
            else:
                for remark in found.remarks:
                    _warn(remark)
                is_empty = False
                id = unique_id(found.id)
                yield found if id == found.id else replace(found, id=id)
    if is_empty:
        where = ", ".join(map(str, roots[:3])) + (" and others" if len(roots) > 3 else "")
        raise ReadError(where or "the list of files", "holds no document that can be read", supported())


@dataclass(frozen=True)
class FolderFiles:
    """The files in a folder and its subfolders, sorted; without hidden ones and those of libraries."""

    readable: list[Path]
    unsupported: list[Path]


def list_folder(folder: str | Path) -> FolderFiles:
    """Walk through a folder."""
    from longmatch.documents.jats import is_other_xml

    found = FolderFiles([], [])
    for parent, subfolders, names in os.walk(folder):
        is_library = LIBRARY_TABLE in subfolders
        subfolders[:] = [
            name
            for name in subfolders
            if not name.startswith(".") and not name.endswith(".lance") and not (is_library and name == LIBRARY_INDEX)
        ]
        for path in (Path(parent, name) for name in names if not is_hidden(name)):
            if is_readable(path.name) and not is_other_xml(path):
                found.readable.append(path)
            elif not is_library:
                found.unsupported.append(path)
    found.readable.sort()
    found.unsupported.sort()
    return found


def find_files(folder: str | Path) -> list[Path]:
    """All files in a folder and its subfolders that longmatch reads, sorted; hidden ones are skipped."""
    return list_folder(folder).readable


def read_text_string(text: str, id: str = "pasted text", title: str = "") -> Document:
    """Make a document from a string; headings and paragraphs are found as in a .txt file.

    >>> document = read_text_string("It rained. We stayed in.", "note")
    >>> document.id, [s.of(document.text) for s in document.sentences]
    ('note', ['It rained.', 'We stayed in.'])
    """
    if not text.strip():
        raise ReadError(id, "is empty", "Give it some text.")
    return check_document(draft_text(text).document(id, title), id)


def _read_from_container(path: Path, wanted: str | None, id: str | None) -> Document:
    """Read the document that `wanted` names, or the file's only document if None, and give it `id`, if any."""
    documents = _selected(path, wanted)
    document = next(documents, None)
    if document is None and wanted is None:
        raise ReadError(path, "holds no document", "Check that it is the file you meant.")
    if document is None:
        raise ReadError(path, f"holds no document with the id {wanted}", "Check the id.")
    if wanted is None and next(documents, None) is not None:
        example = document.id.partition("#")[2] if document.id.startswith(f"{path.name}#") else document.id
        raise ReadError(path, "holds several documents", f"Name one of them, for example {path}#{example}.")
    return replace(document, id=id) if id else document


def _selected(path: Path, wanted: str | None) -> Iterator[Document]:
    """The document that `wanted` names, or all; the first problem with it, or with all, is raised."""
    inner = split_address(Path(wanted)) if wanted else None
    ids = {f"{path.name}#{wanted}", wanted, inner and inner[1]}  # a document in JSON Lines has its own id
    remarks: tuple[str, ...] = ()
    for member in members(path):
        for found in member.read(path.name) if wanted is None or member.may_hold(wanted) else ():
            if isinstance(found, ReadError):
                if wanted is None or "#" not in found.path or found.path.endswith(f"#{wanted}"):
                    raise found
            elif isinstance(found, str):
                remarks += (found,)
            elif wanted is None or found.id in ids:
                yield replace(found, remarks=(*remarks, *found.remarks))


def _files_with_ids(roots: Iterable[Path], on_error: Callable[[ReadError], None]) -> Iterator[tuple[Path, str]]:
    for path in roots:
        if not path.is_dir():
            yield path, path.name
            continue
        files = find_files(path)
        if not files:
            on_error(ReadError(path, "holds no file that longmatch reads", supported()))
        for file in files:
            yield file, file.relative_to(path).as_posix()
