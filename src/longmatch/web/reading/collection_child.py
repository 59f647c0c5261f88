"""The process that reads a file of many documents: `python -m longmatch.web.reading.collection_child FILE NAME WORDS
DOCUMENTS TOTAL SKIP SECONDS BYTES`.

Like `child.py`, but it may write files of bounded size, what it unpacks, into the private folder of FILE. Each
line of standard output is JSON: {"begin": NAME} before each member or message, {"document": ...}, {"problem": ...},
{"remark": ...}; {"too_much": ...} ends it, {"end": true} is the last. So what was read before a crash is kept, and
reading goes on after the member that caused it: SKIP is how many have been looked at.
"""

import json
import sys
from collections.abc import Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from longmatch.documents.archive import LARGEST_MEMBER
from longmatch.documents.containers import Found, Member, members
from longmatch.documents.document import Document
from longmatch.errors import ReadError
from longmatch.web.reading.supervised import supervise
from longmatch.web.reading.wire import to_json


class Most(NamedTuple):
    """What may be read at most."""

    words: int  # of a document
    documents: int
    total: int  # words of all documents


def main() -> None:
    """Read the file named on the command line."""
    file, name, words, documents, total, skip, seconds, memory = sys.argv[1:]
    work = partial(read_members, Path(file), name, Most(int(words), int(documents), int(total)), int(skip))
    supervise(work, int(seconds), int(memory), LARGEST_MEMBER)


def read_members(file: Path, name: str, most: Most, skip: int) -> None:
    """Read the members of a file after the first `skip`; `name` is what people call the file."""

    def say(**what: object) -> None:
        print(json.dumps(what).replace(str(file), name), flush=True)

    documents = total = 0
    for member in islice(members(file), skip, None):
        say(begin=member.name)
        for found in _read(member, name):
            if isinstance(found, Document) and found.words > most.words:
                long = f"has {found.words:,} words, and an upload may have {most.words:,}"
                say(problem=str(ReadError(found.id, long, "Add it with longmatch index LIBRARY FILE.")))
            elif isinstance(found, Document):
                documents, total = documents + 1, total + found.words
                if documents > most.documents or total > most.total:
                    say(too_much=True)
                    return
                say(document=to_json(found))
                for remark in found.remarks:
                    say(remark=remark)
            elif isinstance(found, ReadError):
                say(problem=str(found))
            else:
                say(remark=found)
    say(end=True)


def _read(member: Member, name: str) -> Iterator[Found]:
    try:
        yield from member.read(name)
    except RecursionError:
        yield ReadError("A document of it", "is nested too deeply", "Save it in a simpler form.")


if __name__ == "__main__":
    main()
