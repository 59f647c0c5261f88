"""The parent's side of reading a file: start the reader, wait a bounded time, take its word with care."""

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil
from pathlib import Path
from types import MappingProxyType

from longmatch.documents import ocr
from longmatch.documents.document import Document
from longmatch.documents.formats import IMAGE_SUFFIXES, upload_suffixes
from longmatch.documents.pdf.picture import PagePicture
from longmatch.web.limits import MB, Limits
from longmatch.web.problems import Problem
from longmatch.web.reading.supervised import LATE, NO_MEMORY
from longmatch.web.reading.wire import from_json

PNG = b"\x89PNG\r\n\x1a\n"
SCANNED = (".pdf", *IMAGE_SUFFIXES)  # formats that may be read by OCR
MOST_REMARKS = 20
KEPT = ("PATH", "LANG", "LC_ALL", "SYSTEMROOT", "PYTHONPATH", "VIRTUAL_ENV")  # of the environment; no secrets go along


@dataclass(frozen=True)
class ReadUpload:
    """A document and what its reader remarked: pages without text, for example."""

    document: Document
    remarks: tuple[str, ...] = ()


def read_apart(content: bytes, name: str, limits: Limits, suffix: str | None = None) -> ReadUpload:
    """Read a file's content under limits; a Problem says in a sentence why it cannot be.

    The content lies in a private folder, under a name of our own, for as long as the reader runs. `suffix` says what
    it is, where the name does not.
    """
    shown = shown_name(name)
    if not content:
        raise Problem(422, f"{shown} is empty. Upload a document with text in it.")
    with tempfile.TemporaryDirectory(prefix="longmatch-upload-") as folder:
        kind = suffix or _suffix(shown)
        file = Path(folder) / f"upload{kind}"
        file.write_bytes(content)
        if kind in SCANNED and ocr.is_available():
            limits = replace(limits, reading_seconds=limits.scan_seconds)
        arguments = file, shown, limits.upload_words
        said = run_confined("child", arguments, shown, limits, "Upload a smaller one.")
    read = _document(said.decode("utf-8", "replace"), shown, limits)
    if read.document.words > limits.upload_words:  # a reader that was taken over may say anything
        raise _too_long(read.document.words, limits)
    return read


def draw_apart(path: Path, member: str, shown: str, page: int, passage: str, limits: Limits) -> PagePicture:
    """Draw a page of a PDF, or of the PDF `member` inside a file, under the same limits, with a passage highlighted."""
    said = run_confined("page_child", (path, member, page), shown, limits, "Open the file itself.", passage.encode())
    head, _, image = said.partition(b"\n")
    try:
        found = json.loads(head)
        if "problem" not in found and image.startswith(PNG):
            return PagePicture(image, int(found["pages"]))
        sentence = f"{shown} {found['problem']}. {found['advice']}"
    except (ValueError, KeyError, TypeError) as error:
        raise Problem(422, f"{shown} cannot be drawn. It is damaged.") from error
    raise Problem(422, sentence)


def run_confined(
    module: str, arguments: Sequence[object], shown: str, limits: Limits, remedy: str, given: bytes = b""
) -> bytes:
    """What a module of this folder prints, run in a process with little time, memory and rights.

    `given` is its standard input. A Problem says what went wrong; `remedy` is what to do about a file that takes too
    long.
    """
    said, problem = _run(module, arguments, shown, limits, remedy, given)
    if problem is not None:
        raise problem
    return said


def run_until_end(
    module: str, arguments: Sequence[object], shown: str, limits: Limits, remedy: str, folder: Path
) -> tuple[str, Problem | None]:
    """The same for a module that prints line by line: what it printed, and how it ended if not well.

    What it unpacks lies in `folder`.
    """
    said, problem = _run(module, arguments, shown, limits, remedy, b"", {"TMPDIR": str(folder)})
    return said.decode("utf-8", "replace"), problem


def _run(
    module: str,
    arguments: Sequence[object],
    shown: str,
    limits: Limits,
    remedy: str,
    given: bytes,
    more: Mapping[str, str] = MappingProxyType({}),
) -> tuple[bytes, Problem | None]:
    seconds = max(1, ceil(limits.reading_seconds))
    command = [sys.executable, "-m", f"longmatch.web.reading.{module}", *arguments, seconds, limits.reading_memory]
    environment = {name: os.environ[name] for name in KEPT if name in os.environ}
    environment |= {
        "OMP_NUM_THREADS": "1",
        "MALLOC_ARENA_MAX": "1",
    }  # each pool would reserve 64 MB of what it may have
    late = f"{shown} took longer than {limits.reading_seconds:g} seconds to read. {remedy}"
    with subprocess.Popen(
        [str(word) for word in command],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environment | dict(more) | {"PYTHONIOENCODING": "utf-8", "PYTHONDONTWRITEBYTECODE": "1"},
        start_new_session=True,
    ) as reader:
        try:
            said, _ = reader.communicate(given, timeout=limits.reading_seconds)
        except subprocess.TimeoutExpired:
            _kill(reader)
            return reader.communicate()[0], Problem(422, late)
        finally:
            _kill(reader)
    if reader.returncode == LATE:
        return said, Problem(422, late)
    if reader.returncode in (NO_MEMORY, -signal.SIGKILL):
        most = limits.reading_memory // MB
        return said, Problem(422, f"{shown} needs more memory to be read than the {most:,} MB it may have. {remedy}")
    if reader.returncode != 0:
        return said, Problem(422, f"{shown} is damaged: its reader crashed. Leave it out.")
    return said, None


def _kill(reader: "subprocess.Popen[bytes]") -> None:
    """End the reader and all it may have started."""
    if reader.poll() is None:
        if hasattr(os, "killpg"):
            os.killpg(reader.pid, signal.SIGKILL)
        else:
            reader.kill()
        reader.wait()


def _document(said: str, shown: str, limits: Limits) -> ReadUpload:
    try:
        found = json.loads(said)
        if "words" in found:
            raise _too_long(int(found["words"]), limits)
        if "document" in found:
            remarks = tuple(str(said) for said in found["remarks"][:MOST_REMARKS])
            return ReadUpload(from_json(found["document"]), remarks)
        sentence = f"{shown} {found['problem']}. {found['advice']}"
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise Problem(422, f"{shown} made its reader fail. It is damaged; leave it out.") from error
    raise Problem(422, sentence)


def _too_long(words: int, limits: Limits) -> Problem:
    return Problem(
        413,
        f"The document has {words:,} words, and an upload may have {limits.upload_words:,}. "
        "Add it to the library instead: longmatch index LIBRARY FILE.",
    )


def _suffix(name: str) -> str:
    """The suffix that says which reader to take, from a closed list."""
    known = [suffix for suffix in upload_suffixes() if name.lower().endswith(suffix)]
    if not known:
        kinds = ", ".join(upload_suffixes())
        raise Problem(415, f"{name} is of a kind that longmatch does not read. The kinds it reads are {kinds}.")
    return max(known, key=len)


def shown_name(name: str) -> str:
    """A file's name without folders and control characters, not too long."""
    last = name.replace("\\", "/").rsplit("/", 1)[-1]
    clean = "".join(c for c in last if c.isprintable()).strip()
    return clean[-200:] or "the upload"
