"""The process that draws a page of a PDF: `python -m longmatch.web.reading.page_child FILE PAGE SECONDS BYTES`.

The passage to highlight comes on standard input. The answer is a line of JSON, {"pages": ...} and then the picture as
PNG, or {"problem": ..., "advice": ...} alone.
"""

import json
import sys
from pathlib import Path

from longmatch.documents.pdf.picture import page_picture
from longmatch.errors import ReadError
from longmatch.web.reading.child import limit


def answer(file: Path, page: int, passage: str) -> bytes:
    """The page, or what is wrong with it."""
    try:
        drawn = page_picture(file, page, passage)
    except ReadError as error:
        return json.dumps({"problem": error.problem, "advice": error.advice}).encode()
    except MemoryError:
        return json.dumps({"problem": "needs too much memory to be drawn", "advice": "Open the file itself."}).encode()
    return json.dumps({"pages": drawn.pages}).encode() + b"\n" + drawn.png


def main() -> None:
    """Draw the page named on the command line."""
    file, page, seconds, memory = sys.argv[1:]
    passage = sys.stdin.buffer.read().decode("utf-8", "replace")
    limit(int(seconds), int(memory))
    sys.stdout.buffer.write(answer(Path(file), int(page), passage))


if __name__ == "__main__":
    main()
