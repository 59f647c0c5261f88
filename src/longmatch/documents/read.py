"""Open a document, whatever its format, and walk through folders of them."""

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from importlib import import_module
from pathlib import Path

from longmatch.documents.checks import check_file, checked
from longmatch.documents.document import Document
from longmatch.documents.draft import Draft
from longmatch.errors import ReadError

_READERS = {  # suffix -> module and function, imported when first needed
    ".txt": ("text", "read_plain"),
    ".md": ("markdown", "read_markdown"),
    ".markdown": ("markdown", "read_markdown"),
    ".html": ("html", "read_html"),
    ".htm": ("html", "read_html"),
    ".pdf": ("pdf", "read_pdf"),
    ".docx": ("docx", "read_docx"),
    ".tex": ("tex", "read_tex"),
}
JSON_LINES = (".jsonl", ".jsonl.gz", ".jsonl.xz")
SUFFIXES = (*_READERS, *JSON_LINES)
"""What longmatch reads."""


def read(path: str | Path, id: str | None = None) -> Document:
    """Read one document: a file, or `file.jsonl#ID` for one of a JSON Lines file.

    The document's id is `id`, else its own id in JSON Lines, else the file's name.
    """
    path = Path(path)
    if not path.exists() and (named := _named_in_json_lines(path)) is not None:
        return _one_of(*named, id)
    if path.name.lower().endswith(JSON_LINES):
        return _one_of(path, None, id)
    return _read_single(path, id or path.name)


def read_all(paths: str | Path | Iterable[str | Path], on_error: Callable[[ReadError], None]) -> Iterator[Document]:
    """Read files and folders one document at a time; what cannot be read goes to `on_error` and the rest goes on.

    Ids are unique: the path relative to the folder given, a file's name, or a JSON Lines document's own id.
    Raises ReadError when nothing at all could be read.
    """
    given = [Path(p) for p in ([paths] if isinstance(paths, str | Path) else paths)]
    taken: set[str] = set()
    for path, id in _named_files(given, on_error):
        try:
            for document in _documents_of(path, id, on_error):
                yield _with_unique_id(document, taken)
        except ReadError as error:
            on_error(error)
    if not taken:
        where = ", ".join(map(str, given[:3])) + (" and others" if len(given) > 3 else "")
        raise ReadError(where or "the list of files", "holds no document that can be read", _advice())


def find_files(folder: str | Path) -> list[Path]:
    """All files in a folder and the folders below it that longmatch reads, sorted; hidden ones are left out."""
    found: list[Path] = []
    for place, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        found += [Path(place, name) for name in files if is_readable(name)]
    return sorted(found)


def is_readable(name: str) -> bool:
    """Whether a file's name is one longmatch reads: a known suffix, not hidden, not an office suite's lock.

    >>> is_readable("A.PDF"), is_readable("a.jsonl.xz"), is_readable("~$a.docx"), is_readable("a.exe")
    (True, True, False, False)
    """
    return not name.startswith((".", "~$")) and name.lower().endswith(SUFFIXES)


def read_text_string(text: str, id: str = "pasted text", title: str = "") -> Document:
    """A document from text that is in no file, its headings and paragraphs told as in a .txt file.

    >>> document = read_text_string("It rained. We stayed in.", "note")
    >>> document.id, [s.of(document.text) for s in document.sentences]
    ('note', ['It rained.', 'We stayed in.'])
    """
    from longmatch.documents.text import draft_text

    if not text.strip():
        raise ReadError(id, "is empty", "Give it some text.")
    return checked(draft_text(text).document(id, title), id)


def _read_single(path: Path, id: str) -> Document:
    check_file(path)
    suffix = path.suffix.lower()
    if suffix not in _READERS:
        raise ReadError(path, f"is of a kind that longmatch does not read ({suffix or 'no suffix'})", _advice())
    module, function = _READERS[suffix]
    reader: Callable[[Path], Draft] = getattr(import_module(f"longmatch.documents.{module}"), function)
    return checked(reader(path).document(id, source=str(path)), path)


def _documents_of(path: Path, id: str, on_error: Callable[[ReadError], None]) -> Iterator[Document]:
    if path.name.lower().endswith(JSON_LINES):
        from longmatch.documents.jsonl import iterate_jsonl

        yield from iterate_jsonl(path, on_error)
    else:
        yield _read_single(path, id)


def _named_in_json_lines(path: Path) -> tuple[Path, str] | None:
    """`file.jsonl#ID` as file and ID; the ID may hold slashes and further #."""
    name = str(path)
    for suffix in JSON_LINES:
        at = name.lower().find(f"{suffix}#")
        if at >= 0:
            return Path(name[: at + len(suffix)]), name[at + len(suffix) + 1 :]
    return None


def _one_of(path: Path, wanted: str | None, id: str | None) -> Document:
    from longmatch.documents.jsonl import iterate_jsonl

    documents = iterate_jsonl(path, only=wanted)
    found = next(documents, None)
    if found is None:
        raise ReadError(path, f"holds no document with the id {wanted}", "Check the id.")
    if wanted is None and next(documents, None) is not None:
        raise ReadError(path, "holds several documents", f"Name one of them, for example {path}#{found.id}.")
    return replace(found, id=id) if id else found


def _named_files(given: Iterable[Path], on_error: Callable[[ReadError], None]) -> Iterator[tuple[Path, str]]:
    for path in given:
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
    return f"The kinds it reads are {', '.join(SUFFIXES)}."
