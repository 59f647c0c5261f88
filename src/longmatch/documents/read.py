"""Read documents of any supported format, one at a time or from whole folders."""

import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path

from longmatch.documents.checks import LARGEST_FILE, check_document, check_file, exists, file_status, too_large
from longmatch.documents.document import Document
from longmatch.documents.draft import Draft
from longmatch.documents.recognise import suffix_by_content
from longmatch.documents.unique_names import UniqueNames
from longmatch.errors import ReadError, collected_warnings

_READERS = {  # suffix -> module and function, imported on first use
    ".txt": ("text", "read_plain"),
    ".md": ("markdown", "read_markdown"),
    ".markdown": ("markdown", "read_markdown"),
    ".html": ("html", "read_html"),
    ".htm": ("html", "read_html"),
    ".pdf": ("pdf", "read_pdf"),
    ".docx": ("docx", "read_docx"),
    ".odt": ("odt", "read_odt"),
    ".rtf": ("rtf", "read_rtf"),
    ".epub": ("epub", "read_epub"),
    ".pptx": ("pptx", "read_pptx"),
    ".tex": ("tex", "read_tex"),
    ".xml": ("jats", "read_jats"),
    ".nxml": ("jats", "read_jats"),
    ".eml": ("mail", "read_mail"),
}
_IMAGE_READER = ("images", "read_image")
IMAGE_SUFFIXES = (
    ".png",
    ".jpg",
    ".jpeg",
    ".tif",
    ".tiff",
)  # read by OCR where a file is named; folders hold many others
JSONL_SUFFIXES = (".jsonl", ".jsonl.gz", ".jsonl.xz")
COLLECTION_SUFFIXES = (*JSONL_SUFFIXES, ".mbox", ".zip")  # of files that hold many documents
_ADDRESSED = re.compile(  # an e-mail is a document, and so is each of its attachments
    rf"(?:{'|'.join(map(re.escape, (*COLLECTION_SUFFIXES, '.eml')))})(?=#)", re.IGNORECASE | re.ASCII
)
_IN_PARTS = frozenset({".pdf", ".docx", ".odt", ".epub", ".pptx", *IMAGE_SUFFIXES})  # never in memory as a whole
SUFFIXES = (*_READERS, *COLLECTION_SUFFIXES)
"""File name endings of all supported formats."""
SYSTEM_FILES = frozenset({"thumbs.db", "desktop.ini"})  # of file managers
LIBRARY_TABLE = "documents.lance"  # what makes a folder a library
LIBRARY_INDEX = "index"  # beside it


def read(path: str | Path, id: str | None = None) -> Document:
    """Read one document: a file, or `FILE#ID` for one document of a file that holds many.

    The ID is that in a JSON Lines file, the number of a message in a mailbox, or the name of a file in a zip file or
    attached to a message (`a.eml#b.pdf`, `inbox.mbox#3#b.pdf`). The
    document's id is `id` if given, else its id in the JSON Lines file, else the file name, with #ID where there is one.
    """
    path = Path(path)
    if not exists(path) and (address := _split_address(path)) is not None:
        return _read_from_collection(*address, id)
    if holds_many(path):
        return _read_from_collection(path, None, id)
    return _read_single(path, id or path.name)


def upload_suffixes() -> tuple[str, ...]:
    """The formats that are read without writing any file."""
    from longmatch.documents import ocr

    images = IMAGE_SUFFIXES if ocr.is_available() else ()
    return (*(suffix for suffix in SUFFIXES if suffix != ".zip"), *images)


def holds_many(path: Path) -> bool:
    """Whether a file holds many documents, by its name; not if it is a zip file that is one document."""
    name = path.name.lower()
    if name.endswith(".zip"):
        return not (path.is_file() and suffix_by_content(path))
    return name.endswith(COLLECTION_SUFFIXES)


def status_of_readable(path: Path) -> os.stat_result:
    """The status of a file, before it is opened; raise ReadError unless it is regular and not too large to be read."""
    status = file_status(path)
    if status.st_size > LARGEST_FILE and not holds_many(path) and not _is_read_in_parts(path):
        raise too_large(path)
    return status


def _is_read_in_parts(path: Path) -> bool:
    return (suffix_by_content(path) or path.suffix.lower()) in _IN_PARTS


def names_a_file(path: str | os.PathLike[str]) -> bool:
    """Whether there is a file of that name, or it is written as one document of a file that holds many."""
    return exists(Path(path)) or _split_address(Path(path)) is not None


def read_all(paths: str | Path | Iterable[str | Path], on_error: Callable[[ReadError], None]) -> Iterator[Document]:
    """Yield the documents of files and folders; unreadable ones are passed to `on_error` and skipped.

    Ids are unique: the path relative to its folder in `paths`, a file name, or the id in a JSON Lines file.
    Raises ReadError if nothing could be read.
    """
    roots = [Path(p) for p in ([paths] if isinstance(paths, str | Path) else paths)]
    unique_id, found = UniqueNames(), False
    for path, id in _files_with_ids(roots, on_error):
        try:
            for document in documents_of(path, id, on_error):
                found = True
                yield _renamed(document, unique_id(document.id))
        except ReadError as error:
            on_error(error)
    if not found:
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
        for path in (Path(parent, name) for name in names if not _is_hidden(name)):
            if is_readable(path.name) and not _is_other_xml(path):
                found.readable.append(path)
            elif not is_library:
                found.unsupported.append(path)
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


def suffix_of(name: str) -> str:
    """The supported suffix that a file name ends with, in lower case; empty if it has none.

    >>> suffix_of("a.b.JSONL.gz"), suffix_of("a.exe")
    ('.jsonl.gz', '')
    """
    return max((suffix for suffix in SUFFIXES if name.lower().endswith(suffix)), key=len, default="")


def _is_other_xml(path: Path) -> bool:
    """Whether a file in a folder is XML of another kind than is read: there is much of it that is no document."""
    from longmatch.documents.jats import looks_like_jats

    try:
        return path.suffix.lower() == ".xml" and not looks_like_jats(path)
    except ReadError:  # said when it is read
        return False


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
    suffix = suffix_by_content(path) or path.suffix.lower()
    known = _IMAGE_READER if suffix in IMAGE_SUFFIXES else _READERS.get(suffix)
    if known is None:
        raise ReadError(path, f"has an unsupported format ({suffix or 'no suffix'})", _advice())
    module, function = known
    reader: Callable[[Path], Draft] = getattr(import_module(f"longmatch.documents.{module}"), function)
    return check_document(reader(path).document(id, source=str(path)), path)


def documents_of(path: Path, id: str, on_error: Callable[[ReadError], None]) -> Iterator[Document]:
    """Yield the documents of a file, whether it holds one or many; problems with some of many go to `on_error`."""
    name = path.name.lower()
    if is_mail(path):
        yield from _mail_documents(path, id, on_error)
    elif not holds_many(path):
        yield _read_single(path, id)
    elif name.endswith(JSONL_SUFFIXES):
        from longmatch.documents.jsonl import iterate_jsonl

        yield from iterate_jsonl(path, on_error)
    elif name.endswith(".mbox"):
        from longmatch.documents.mail import numbered_messages

        for number, data in numbered_messages(path):
            yield from read_mailbox_message(data, path, number, id, on_error)
    else:
        groups = zip_groups(path, on_error)
        for names in groups:
            yield from read_zip_members(path, names, id, on_error)


def is_mail(path: Path) -> bool:
    """Whether a file is one e-mail, which may have attachments."""
    return path.name.lower().endswith(".eml") and path.is_file() and not suffix_by_content(path)


def _mail_documents(path: Path, id: str, on_error: Callable[[ReadError], None]) -> Iterator[Document]:
    from longmatch.documents.attachments import read_attachments, with_attached
    from longmatch.documents.decoding import read_bytes

    def attached() -> Iterator[Document]:
        return read_attachments(read_bytes(path), path, id, suffix_of, _read_attached, on_error)

    yield from with_attached(lambda: _read_single(path, id), attached)


def read_mailbox_message(
    data: bytes, path: Path, number: int, id: str, on_error: Callable[[ReadError], None]
) -> Iterator[Document]:
    """Yield a message of a mailbox and the documents attached to it; `id` is that of the mailbox."""
    from longmatch.documents.attachments import read_message

    return read_message(data, path, number, id, suffix_of, _read_attached, on_error)


def _read_attached(path: Path, id: str, on_error: Callable[[ReadError], None]) -> Iterator[Document]:
    """An attached file; what is attached to an attached e-mail is left out."""
    yield _read_single(path, id)


def zip_groups(path: Path, on_error: Callable[[ReadError], None]) -> list[tuple[str, ...]]:
    """The names of the documents in a zip file, in groups to be read together."""
    from longmatch.documents.zipped import group_members, no_documents

    problems: list[ReadError] = []
    groups = group_members(path, suffix_of, problems.append)
    for problem in problems or ([] if groups else [no_documents(path)]):
        on_error(problem)
    return groups


def read_zip_members(
    path: Path, names: Sequence[str], id: str, on_error: Callable[[ReadError], None]
) -> Iterator[Document]:
    """Yield the documents of some members of a zip file; `id` is that of the zip file."""
    from longmatch.documents.zipped import read_members

    return read_members(path, names, id, suffix_of, documents_of, on_error)


def _split_address(path: Path) -> tuple[Path, str] | None:
    """Split `file.jsonl#ID` into file and ID; the ID may contain slashes and further #."""
    name = str(path)
    suffix = _ADDRESSED.search(name)
    return (Path(name[: suffix.end()]), name[suffix.end() + 1 :]) if suffix else None


def _read_from_collection(path: Path, wanted: str | None, id: str | None) -> Document:
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
    """The document that `wanted` names, or all; the first problem is raised."""
    name = path.name.lower()
    if name.endswith(JSONL_SUFFIXES):
        from longmatch.documents.jsonl import iterate_jsonl

        yield from iterate_jsonl(path, only=wanted)
    elif name.endswith(".mbox"):
        yield from _selected_messages(path, wanted)
    elif is_mail(path):
        yield from (d for d in documents_of(path, path.name, _raising(wanted)) if d.id == f"{path.name}#{wanted}")
    elif wanted is None:
        yield from documents_of(path, path.name, _raise)
    else:
        inner = _split_address(Path(wanted))
        with collected_warnings():
            members = [name for group in zip_groups(path, _raise) for name in group]
        chosen = [name for name in members if name == wanted or (inner is not None and name == str(inner[0]))]
        ids = {f"{path.name}#{wanted}", *([inner[1]] if inner is not None else ())}
        yield from (d for d in read_zip_members(path, chosen, path.name, _raise) if d.id in ids)


def _selected_messages(path: Path, wanted: str | None) -> Iterator[Document]:
    from longmatch.documents.mail import numbered_messages

    for number, data in numbered_messages(path):
        if wanted is None or wanted.partition("#")[0] == str(number):
            found = read_mailbox_message(data, path, number, path.name, _raise if wanted is None else _raising(wanted))
            yield from (document for document in found if wanted is None or document.id == f"{path.name}#{wanted}")


def _raising(wanted: str | None) -> Callable[[ReadError], None]:
    """Raises what is wrong with the document that is wanted; problems with others do not matter."""

    def on_error(error: ReadError) -> None:
        if "#" not in error.path or error.path.endswith(f"#{wanted}"):
            raise error

    return on_error


def _raise(error: ReadError) -> None:
    raise error


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


def _renamed(document: Document, id: str) -> Document:
    return document if id == document.id else replace(document, id=id)


def _advice() -> str:
    return f"Supported formats: {', '.join(SUFFIXES)}."
