"""The process that draws a page of a PDF: `python -m longmatch.web.reading.page_child FILE MEMBER PAGE SECONDS BYTES`.

MEMBER is the name of a PDF that lies inside the file; empty where the file is the PDF. The passage to highlight comes
on standard input. The answer is a line of JSON, {"pages": ...}, and then the picture as PNG; or a line with
{"problem": ..., "advice": ...} alone.
"""

import json
import sys
from functools import partial
from pathlib import Path

from longmatch.documents.containers import member_content
from longmatch.documents.pdf.picture import page_picture
from longmatch.errors import ReadError
from longmatch.web.reading.supervised import supervise


def answer(file: Path, member: str, page: int, passage: str) -> bytes:
    """The page, or what is wrong with it."""
    try:
        drawn = page_picture(file, page, passage, content=member_content(file, member) if member else None)
    except ReadError as error:
        return json.dumps({"problem": error.problem, "advice": error.advice}).encode()
    return json.dumps({"pages": drawn.pages}).encode() + b"\n" + drawn.png


def main() -> None:
    """Draw the page named on the command line."""
    file, member, page, seconds, memory = sys.argv[1:]
    passage = sys.stdin.buffer.read().decode("utf-8", "replace")
    work = partial(_draw, Path(file), member, int(page), passage)
    supervise(work, int(seconds), int(memory))


def _draw(file: Path, member: str, page: int, passage: str) -> None:
    sys.stdout.buffer.write(answer(file, member, page, passage))


if __name__ == "__main__":
    main()
