"""The server's side of reading a file: start the reader, wait a bounded time, take its word with care.

No pool of processes would do: a reader that was taken over by what it read may say anything, so it answers in JSON, has
no secrets, little memory and time, and is killed with all that it started.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from math import ceil
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from longmatch.documents import ocr
from longmatch.documents.document import Document
from longmatch.documents.formats import IMAGE_SUFFIXES, suffix_of, upload_suffixes
from longmatch.documents.pdf.picture import PagePicture
from longmatch.web.limits import MB, Limits
from longmatch.web.problems import Problem
from longmatch.web.reading.supervised import LATE, NO_MEMORY

PNG = b"\x89PNG\r\n\x1a\n"
SCANNED = (".pdf", *IMAGE_SUFFIXES)  # formats that may be read by OCR
MOST_REMARKS = 20
MOST_CRASHES = 5  # of the reader of a file of many, after which the rest is left unread
KEPT = ("PATH", "LANG", "LC_ALL", "SYSTEMROOT", "PYTHONPATH", "VIRTUAL_ENV")  # of the environment; no secrets go along
SET = {
    "OMP_NUM_THREADS": "1",
    "MALLOC_ARENA_MAX": "1",  # each arena would reserve 64 MB of what it may have
    "PYTHONIOENCODING": "utf-8",
    "PYTHONDONTWRITEBYTECODE": "1",
}
_DOCUMENT = TypeAdapter(Document)


@dataclass
class ReadFile:
    """The documents of a file, and sentences on what could not be read, or not surely: pages without text, as."""

    documents: list[Document] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)

    @property
    def sentences(self) -> list[str]:
        """What to tell the person who sent it."""
        said = [*self.problems, *self.remarks]
        more = len(said) - MOST_REMARKS
        return [*said[:MOST_REMARKS], *([f"{more:,} more files could not be read."] if more > 0 else [])]


def read_apart(content: bytes, name: str, limits: Limits, suffix: str | None = None) -> ReadFile:
    """Read a file of one document under limits; a Problem says in a sentence why it cannot be.

    The content lies in a private folder, under a name of our own, for as long as the reader runs. `suffix` says what
    it is, where the name does not.
    """
    shown = shown_name(name, content)
    known = [each for each in upload_suffixes() if shown.lower().endswith(each)]  # a closed list
    if not suffix and not known:
        kinds = ", ".join(upload_suffixes())
        raise Problem(415, f"{shown} is of a kind that longmatch does not read. The kinds it reads are {kinds}.")
    kind = suffix or max(known, key=len)
    if kind in SCANNED and ocr.is_available():
        limits = replace(limits, reading_seconds=limits.scan_seconds)
    with private_file(content, kind) as file:
        given = {"file": str(file), "name": shown, "most_words": limits.upload_words}
        said, problem = run_confined("read_one", given, shown, limits, "Upload a smaller one.")
    if problem is not None:
        raise problem
    try:
        found = json.loads(said)
        if "problem" in found:
            raise Problem(422, str(found["problem"]))
        documents = [from_json(found["document"])] if "document" in found else []
        words = documents[0].words if documents else int(found["words"])
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise Problem(422, f"{shown} made its reader fail. It is damaged; leave it out.") from error
    if words > limits.upload_words:  # by the server's count too: a reader that was taken over may say anything
        most = f"The document has {words:,} words, and an upload may have {limits.upload_words:,}. "
        raise Problem(413, f"{most}Add it to the library instead: longmatch index LIBRARY FILE.")
    return ReadFile(documents, remarks=[*documents[0].remarks])


def read_collection_apart(content: bytes, name: str, limits: Limits) -> ReadFile:
    """Read a file of many documents under limits: what can be read is kept, and all else is named.

    A Problem says in a sentence why none can be read.
    """
    shown = shown_name(name, content)
    limits = replace(limits, reading_seconds=limits.scan_seconds)
    read = ReadFile()
    with private_file(content, suffix_of(shown)) as file:
        given: dict[str, Any] = {"file": str(file), "name": shown, "most_words": limits.upload_words}
        given |= {"most_documents": limits.added_documents, "most_in_all": limits.added_words, "skip": 0}
        for _ in range(MOST_CRASHES):
            said, crash = run_confined("read_many", given, shown, limits, "Add its files one by one.", file.parent)
            begun = _take(said, read, shown, limits)
            given["skip"] += len(begun)
            if crash is None:
                break
            if not begun:
                read.problems.append(str(crash))
                break
            member = f"{shown}#{begun[-1]}" if begun[-1] else shown
            read.problems.append(str(crash).replace(shown, member, 1))
        else:
            read.problems.append(f"{shown} crashed its reader {MOST_CRASHES} times; the rest of it was not read.")
    if not read.documents:
        raise Problem(422, read.problems[0] if read.problems else f"{shown} holds no document that can be read.")
    return read


def draw_apart(path: Path, member: str, shown: str, page: int, passage: str, limits: Limits) -> PagePicture:
    """Draw a page of a PDF, or of the PDF `member` inside a file, under the same limits, with a passage highlighted."""
    given = {"file": str(path), "member": member, "page": page, "passage": passage}
    said, problem = run_confined("draw", given, shown, limits, "Open the file itself.")
    if problem is not None:
        raise problem
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
    task: str, given: dict[str, Any], shown: str, limits: Limits, remedy: str, folder: Path | None = None
) -> tuple[bytes, Problem | None]:
    """What a task of `child.py` prints in a process with little time, memory and rights; and how it ended if not well.

    `remedy` is what to do about a file that takes too long; what the task unpacks lies in `folder`.
    """
    seconds = max(1, ceil(limits.reading_seconds))
    command = [sys.executable, "-m", "longmatch.web.reading.child", task, str(seconds), str(limits.reading_memory)]
    environment = {name: os.environ[name] for name in KEPT if name in os.environ} | SET
    late = f"{shown} took longer than {limits.reading_seconds:g} seconds to read. {remedy}"
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environment | ({"TMPDIR": str(folder)} if folder else {}),
        start_new_session=True,
    ) as reader:
        try:
            said, _ = reader.communicate(json.dumps(given).encode(), timeout=limits.reading_seconds)
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


@contextmanager
def private_file(content: bytes, suffix: str) -> Iterator[Path]:
    """The content under a name of our own, in a folder that nobody else sees and that is gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="longmatch-upload-") as folder:
        file = Path(folder) / f"upload{suffix}"
        file.write_bytes(content)
        yield file


def from_json(said: str) -> Document:
    """A document back from JSON; ValueError where it is none of ours or a part of it lies outside the text."""
    found = _DOCUMENT.validate_json(said)
    document = replace(found, source="", sections=tuple(found.sections), remarks=found.remarks[:MOST_REMARKS])
    size = len(document.text)
    parts = [*document.sections, *document.paragraphs, *(s for p in document.paragraphs for s in p.sentences)]
    if not all(0 <= part.start <= part.end <= size for part in parts):
        raise ValueError("a part lies outside the text")
    if document.plain and len(document.plain) != size:
        raise ValueError("the plain text has another length")
    return document


def _take(said: bytes, read: ReadFile, shown: str, limits: Limits) -> list[str]:
    """Take the reader's word with care: what is none of ours is left out. Returns the members that it began with."""
    begun: list[str] = []
    for line in said.decode("utf-8", "replace").splitlines():
        try:
            found = json.loads(line)
            if "document" in found:
                read.documents.append(from_json(found["document"]))
                read.remarks += read.documents[-1].remarks
            elif "begin" in found:
                begun.append(str(found["begin"]))
            elif "problem" in found:
                read.problems.append(str(found["problem"]))
            elif "remark" in found:
                read.remarks.append(str(found["remark"]))
        except (ValueError, KeyError, TypeError, AttributeError):
            continue
        words = sum(document.words for document in read.documents[-1:])
        if words > limits.upload_words or len(read.documents) > limits.added_documents or "too_much" in found:
            most = f"{limits.added_documents:,} documents with {limits.added_words:,} words"
            advice = "Add it on the server: longmatch index LIBRARY FILE."
            raise Problem(413, f"{shown} holds more than can be added from the page at once: {most}. {advice}")
    return begun


def shown_name(name: str, content: bytes | None = None) -> str:
    """A file's name without folders and control characters, not too long; refused where the content is empty."""
    last = name.replace("\\", "/").rsplit("/", 1)[-1]
    shown = "".join(c for c in last if c.isprintable()).strip()[-200:] or "the upload"
    if content == b"":
        raise Problem(422, f"{shown} is empty. Upload a document with text in it.")
    return shown
