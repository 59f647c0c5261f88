"""Read documents of any supported format, one at a time or from whole folders."""

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path

from longmatch.documents.checks import check_document, check_file, exists
from longmatch.documents.document import Document
from longmatch.documents.draft import Draft
from longmatch.errors import ReadError

_READERS = {  # suffix -> module and function, imported on first use
    ".txt": ("text", "read_plain"),
    ".md": ("markdown", "read_markdown"),
    ".markdown": ("markdown", "read_markdown"),
    ".html": ("html", "read_html"),
    ".htm": ("html", "read_html"),
    ".pdf": ("pdf", "read_pdf"),
    ".docx": ("docx", "read_docx"),
    ".tex": ("tex", "read_tex"),
}
JSONL_SUFFIXES = (".jsonl", ".jsonl.gz", ".jsonl.xz")
SUFFIXES = (*_READERS, *JSONL_SUFFIXES)
"""File name endings of all supported formats."""
SYSTEM_FILES = frozenset({"thumbs.db", "desktop.ini"})  # of file managers
LIBRARY_TABLE = "documents.lance"  # what makes a folder a library
LIBRARY_INDEX = "index"  # beside it


def read(path: str | Path, id: str | None = None) -> Document:
    """Read one document: a file, or `file.jsonl#ID` for one document of a JSON Lines file.

    The document's id is `id` if given, else its id in the JSON Lines file, else the file name.
    """
    path = Path(path)
    if not exists(path) and (address := _split_address(path)) is not None:
        return _read_from_jsonl(*address, id)
    if path.name.lower().endswith(JSONL_SUFFIXES):
        return _read_from_jsonl(path, None, id)
    return _read_single(path, id or path.name)


def names_a_file(path: str | os.PathLike[str]) -> bool:
    """Whether there is a file of that name, or it is written as one document of a JSON Lines file."""
    return exists(Path(path)) or _split_address(Path(path)) is not None


def read_all(paths: str | Path | Iterable[str | Path], on_error: Callable[[ReadError], None]) -> Iterator[Document]:
    """Yield the documents of files and folders; unreadable ones are passed to `on_error` and skipped.

    Ids are unique: the path relative to its folder in `paths`, a file name, or the id in a JSON Lines file.
    Raises ReadError if nothing could be read.
    """
    roots = [Path(p) for p in ([paths] if isinstance(paths, str | Path) else paths)]
    taken: set[str] = set()
    for path, id in _files_with_ids(roots, on_error):
        try:
            for document in _documents_of(path, id, on_error):
                yield _with_unique_id(document, taken)
        except ReadError as error:
            on_error(error)
    if not taken:
        where = ", ".join(map(str, roots[:3])) + (" and others" if len(roots) > 3 else "")
        raise ReadError(where or "the list of files", "holds no document that can be read", _advice())


@dataclass(frozen=True)
class FolderFiles:
    """The files in a folder and its subfolders, sorted; without hidden ones and those of libraries."""

    readable: list[Path]
    unsupported: list[Path]


def list_folder(folder: str | Path) -> FolderFiles:
    """Walk through a folder."""
    found = FolderFiles([], [])
    for parent, subfolders, names in os.walk(folder):
        is_library = LIBRARY_TABLE in subfolders
        subfolders[:] = [
            name
            for name in subfolders
            if not name.startswith(".") and not name.endswith(".lance") and not (is_library and name == LIBRARY_INDEX)
        ]
        found.readable.extend(Path(parent, name) for name in names if is_readable(name))
        if not is_library:
            found.unsupported.extend(
                Path(parent, name) for name in names if not _is_hidden(name) and not is_readable(name)
            )
    found.readable.sort()
    found.unsupported.sort()
    return found


def find_files(folder: str | Path) -> list[Path]:
    """All files in a folder and its subfolders that longmatch reads, sorted; hidden ones are skipped."""
    return list_folder(folder).readable


def is_readable(name: str) -> bool:
    """Whether longmatch reads a file of this name: a supported suffix, not hidden, not an office lock file.

    >>> is_readable("A.PDF"), is_readable("a.jsonl.xz"), is_readable("~$a.docx"), is_readable("a.exe")
    (True, True, False, False)
    """
    return not _is_hidden(name) and name.lower().endswith(SUFFIXES)


def _is_hidden(name: str) -> bool:
    return name.startswith((".", "~$")) or name.lower() in SYSTEM_FILES


def read_text_string(text: str, id: str = "pasted text", title: str = "") -> Document:
    """Make a document from a string; headings and paragraphs are found as in a .txt file.

    >>> document = read_text_string("It rained. We stayed in.", "note")
    >>> document.id, [s.of(document.text) for s in document.sentences]
    ('note', ['It rained.', 'We stayed in.'])
    """
    from longmatch.documents.text import draft_text

    if not text.strip():
        raise ReadError(id, "is empty", "Give it some text.")
    return check_document(draft_text(text).document(id, title), id)


def _read_single(path: Path, id: str) -> Document:
    check_file(path)
    suffix = path.suffix.lower()
    if suffix not in _READERS:
        raise ReadError(path, f"has an unsupported format ({suffix or 'no suffix'})", _advice())
    module, function = _READERS[suffix]
    reader: Callable[[Path], Draft] = getattr(import_module(f"longmatch.documents.{module}"), function)
    return check_document(reader(path).document(id, source=str(path)), path)


def _documents_of(path: Path, id: str, on_error: Callable[[ReadError], None]) -> Iterator[Document]:
    if path.name.lower().endswith(JSONL_SUFFIXES):
        from longmatch.documents.jsonl import iterate_jsonl

        yield from iterate_jsonl(path, on_error)
    else:
        yield _read_single(path, id)


def _split_address(path: Path) -> tuple[Path, str] | None:
    """Split `file.jsonl#ID` into file and ID; the ID may contain slashes and further #."""
    name = str(path)
    for suffix in JSONL_SUFFIXES:
        at = name.lower().find(f"{suffix}#")
        if at >= 0:
            return Path(name[: at + len(suffix)]), name[at + len(suffix) + 1 :]
    return None


def _read_from_jsonl(path: Path, wanted: str | None, id: str | None) -> Document:
    """Read the document with the id `wanted`, or the file's only document if None, and give it `id`, if any."""
    from longmatch.documents.jsonl import iterate_jsonl

    documents = iterate_jsonl(path, only=wanted)
    document = next(documents, None)
    if document is None:
        raise ReadError(path, f"holds no document with the id {wanted}", "Check the id.")
    if wanted is None and next(documents, None) is not None:
        raise ReadError(path, "holds several documents", f"Name one of them, for example {path}#{document.id}.")
    return replace(document, id=id) if id else document


def _files_with_ids(roots: Iterable[Path], on_error: Callable[[ReadError], None]) -> Iterator[tuple[Path, str]]:
    for path in roots:
        if not path.is_dir():
            yield path, path.name
            continue
        files = find_files(path)
        if not files:
            on_error(ReadError(path, "holds no file that longmatch reads", _advice()))
        for file in files:
            yield file, file.relative_to(path).as_posix()


def _with_unique_id(document: Document, taken: set[str]) -> Document:
    id, count = document.id, 1
    while id in taken:
        count += 1
        id = f"{document.id} ({count})"
    taken.add(id)
    return document if id == document.id else replace(document, id=id)


def _advice() -> str:
    return f"Supported formats: {', '.join(SUFFIXES)}."
