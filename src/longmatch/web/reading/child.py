"""The process that reads a file, or draws a page of one: `python -m longmatch.web.reading.child TASK SECONDS BYTES`.

It gives up what it does not need before it opens the file: it may use little memory and time, and dump no core. It may
write no file; where it unpacks one of many documents, files of bounded size in the private folder of that. What a task
is given comes on standard input, as JSON. A reader that fails says why by its exit code (`supervised.py`).
"""

import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, replace
from functools import partial
from itertools import islice
from pathlib import Path

from longmatch.documents.archive import LARGEST_MEMBER
from longmatch.documents.containers import Found, Member, member_content, members
from longmatch.documents.decoding import whole
from longmatch.documents.document import Document
from longmatch.documents.formats import holds_many
from longmatch.documents.read import read_quietly
from longmatch.errors import ReadError
from longmatch.web.reading.supervised import supervise

NESTED = "is nested too deeply", "Save it in a simpler form."


def read_one(file: str, name: str, most_words: int) -> None:
    """Print {"document": ...}, {"words": ...} of one that is too long, or {"problem": ...}."""
    path = Path(file)
    try:
        document = read_quietly(path, name)
        if document.words > most_words:
            _say(file, name, words=document.words)
        else:
            _say(file, name, document=to_json(document))
    except ReadError as error:
        single = holds_many(path) and "#" in error.advice
        advice = "Upload one that holds a single document." if single else error.advice
        _say(file, name, problem=f"{name} {error.problem}. {advice}")
    except RecursionError:
        _say(file, name, problem=str(ReadError(name, *NESTED)))


def read_many(file: str, name: str, most_words: int, most_documents: int, most_in_all: int, skip: int) -> None:
    """Print lines: {"begin": NAME} before each member, {"document": ...}, {"problem": ...}, {"remark": ...}.

    {"too_much": true} ends it. So what was read before a crash is kept, and reading goes on after the member that
    caused it: `skip` is how many have been looked at.
    """
    say = partial(_say, file, name)
    documents = total = 0
    for member in islice(members(Path(file)), skip, None):
        say(begin=member.name)
        for found in _read(member, name):
            if isinstance(found, Document) and found.words > most_words:
                long = f"has {found.words:,} words, and an upload may have {most_words:,}"
                say(problem=str(ReadError(found.id, long, "Add it with longmatch index LIBRARY FILE.")))
            elif isinstance(found, Document):
                documents, total = documents + 1, total + found.words
                if documents > most_documents or total > most_in_all:
                    say(too_much=True)
                    return
                say(document=to_json(found))
            elif isinstance(found, ReadError):
                say(problem=str(found))
            else:
                say(remark=found)


def draw(file: str, member: str, page: int, passage: str) -> None:
    """Print a line, {"pages": ...}, and then a page of a PDF as PNG; or a line with {"problem": ..., "advice": ...}.

    `member` is the name of a PDF that lies inside the file; empty where the file is the PDF.
    """
    from longmatch.documents.pdf.picture import page_picture

    place = Path(file)
    try:
        drawn = page_picture(place, page, passage, content=member_content(place, member) if member else None)
    except ReadError as error:
        print(json.dumps({"problem": error.problem, "advice": error.advice}))
        return
    sys.stdout.buffer.write(json.dumps({"pages": drawn.pages}).encode() + b"\n" + drawn.png)


def to_json(document: Document) -> str:
    """Everything but the source; halves of characters, which no answer can hold, become whole ones."""
    known = replace(document, source="", metadata=dict(document.metadata))
    return whole(json.dumps(asdict(known), default=str, ensure_ascii=False))


def _say(file: str, name: str, **what: object) -> None:
    """A line, with the name that the user knows instead of that of the private file."""
    print(json.dumps(what).replace(json.dumps(file)[1:-1], json.dumps(name)[1:-1]), flush=True)


def _read(member: Member, name: str) -> Iterator[Found]:
    try:
        yield from member.read(name)
    except RecursionError:
        yield ReadError("A document of it", *NESTED)


def main() -> None:
    """Do the task named on the command line."""
    task, seconds, memory = sys.argv[1:]
    tasks: dict[str, Callable[..., None]] = {"read_one": read_one, "read_many": read_many, "draw": draw}
    supervise(
        partial(tasks[task], **json.load(sys.stdin)),
        int(seconds),
        int(memory),
        LARGEST_MEMBER if task == "read_many" else 0,
    )


if __name__ == "__main__":
    main()
