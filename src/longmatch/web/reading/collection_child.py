"""The process that reads a file of many documents: `python -m longmatch.web.reading.collection_child FILE NAME WORDS
DOCUMENTS TOTAL SKIP SECONDS BYTES`.

Like `child.py`, but it may write files of bounded size, what it unpacks, into the private folder of FILE. Each
line of standard output is JSON: {"begin": NAME} before each member or message, {"document": ...}, {"problem": ...},
{"remark": ...}; {"too_much": ...} ends it, {"end": true} is the last. So what was read before a crash is kept, and
reading goes on after the member that caused it: SKIP is how many have been looked at.
"""

import json
import sys
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from longmatch.documents.archive import LARGEST_MEMBER
from longmatch.documents.document import Document
from longmatch.documents.mail import numbered_messages
from longmatch.documents.read import documents_of, holds_many, read_mailbox_message, read_zip_members, zip_groups
from longmatch.errors import ReadError, collected_warnings
from longmatch.web.reading.supervised import supervise
from longmatch.web.reading.wire import to_json

OnError = Callable[[ReadError], None]
Member = tuple[str, Callable[[], Iterator[Document]]]


class Most(NamedTuple):
    """What may be read at most."""

    words: int  # of a document
    documents: int
    total: int  # words of all documents


def main() -> None:
    """Read the file named on the command line."""
    file, name, words, documents, total, skip, seconds, memory = sys.argv[1:]
    work = partial(_read, Path(file), name, Most(int(words), int(documents), int(total)), int(skip))
    supervise(work, int(seconds), int(memory), LARGEST_MEMBER)


def _read(file: Path, name: str, most: Most, skip: int) -> None:
    def say(**what: object) -> None:
        print(json.dumps(what).replace(str(file), name), flush=True)

    def on_error(error: ReadError) -> None:
        say(problem=str(error))

    documents = total = 0
    with collected_warnings() as remarks:
        try:
            for member, read in islice(_members(file, name, on_error), skip, None):
                say(begin=member)
                for document in _readable(read, on_error):
                    if document.words > most.words:
                        long = f"has {document.words:,} words, and an upload may have {most.words:,}"
                        on_error(ReadError(document.id, long, "Add it with longmatch index LIBRARY FILE."))
                        continue
                    documents, total = documents + 1, total + document.words
                    if documents > most.documents or total > most.total:
                        say(too_much=True)
                        return
                    say(document=to_json(document))
        except ReadError as error:
            on_error(error)
    for remark in remarks:
        say(remark=remark)
    say(end=True)


def _members(file: Path, name: str, on_error: OnError) -> Iterator[Member]:
    """What is read one after the other: the members of a zip file, the messages of a mailbox, else the whole."""
    suffix = file.suffix.lower()
    if suffix == ".zip" and holds_many(file):
        for member in (member for group in zip_groups(file, on_error) for member in group):
            yield member, partial(read_zip_members, file, [member], name, on_error)
    elif suffix == ".mbox":
        for number, data in numbered_messages(file):
            yield str(number), partial(read_mailbox_message, data, file, number, name, on_error)
    else:
        yield "", partial(documents_of, file, name, on_error)


def _readable(read: Callable[[], Iterator[Document]], on_error: OnError) -> Iterator[Document]:
    try:
        yield from read()
    except ReadError as error:
        on_error(error)
    except RecursionError:
        on_error(ReadError("A document of it", "is nested too deeply", "Save it in a simpler form."))


if __name__ == "__main__":
    main()
