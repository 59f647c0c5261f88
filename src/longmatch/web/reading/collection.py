"""The parent's side of reading a file of many documents: what can be read is kept, and all else is named."""

import json
import tempfile
from dataclasses import dataclass, field, replace
from pathlib import Path

from longmatch.documents.document import Document
from longmatch.documents.formats import container_named, suffix_of
from longmatch.web.limits import Limits
from longmatch.web.problems import Problem
from longmatch.web.reading.process import MOST_REMARKS, run_until_end, shown_name
from longmatch.web.reading.wire import from_json

MOST_CRASHES = 5  # after which the rest is left unread


@dataclass
class ReadCollection:
    """The documents of a file, and sentences on what could not be read, or not surely."""

    documents: list[Document] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)

    @property
    def sentences(self) -> tuple[str, ...]:
        """What to tell the person who added it."""
        said = [*self.problems, *self.remarks]
        more = len(said) - MOST_REMARKS
        return (*said[:MOST_REMARKS], *([f"{more:,} more files could not be read."] if more > 0 else ()))


def may_hold_many(name: str) -> bool:
    """Whether a file may hold several documents: an e-mail has attachments."""
    return container_named(name) is not None


def read_collection_apart(content: bytes, name: str, limits: Limits) -> ReadCollection:
    """Read the documents of a file under limits; a Problem says in a sentence why none can be read."""
    shown = shown_name(name)
    if not content:
        raise Problem(422, f"{shown} is empty. Upload a document with text in it.")
    limits = replace(limits, reading_seconds=limits.scan_seconds)
    read = ReadCollection()
    with tempfile.TemporaryDirectory(prefix="longmatch-upload-") as folder:
        file = Path(folder) / f"upload{suffix_of(shown)}"
        file.write_bytes(content)
        skip = 0
        for _ in range(MOST_CRASHES):
            arguments = file, shown, limits.upload_words, limits.added_documents, limits.added_words, skip
            said, crash = run_until_end(
                "collection_child", arguments, shown, limits, "Add its files one by one.", Path(folder)
            )
            begun = _take(said, read, shown, limits)
            skip += len(begun)
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


def _take(said: str, read: ReadCollection, shown: str, limits: Limits) -> list[str]:
    """Take the reader's word with care: what is none of ours is left out. Returns the members that it began with."""
    begun: list[str] = []
    for line in said.splitlines():
        try:
            found = json.loads(line)
            if "document" in found:
                read.documents.append(from_json(found["document"]))
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
