"""The process that reads one upload: `python -m longmatch.web.reading.child FILE NAME WORDS SECONDS BYTES`.

It gives up what it does not need before it opens the file: it may use little memory and time, write no file and dump no
core. The answer goes to standard output as JSON: {"document": ..., "remarks": [...]}, {"words": ...} of one
that is too long, or {"problem": ..., "advice": ...}. A reader that fails says why by its exit code
(`web/reading/supervised.py`).
"""

import json
import sys
from functools import partial
from pathlib import Path

from longmatch.documents.formats import holds_many
from longmatch.documents.read import read_quietly
from longmatch.errors import ReadError
from longmatch.web.reading.supervised import supervise
from longmatch.web.reading.wire import to_json


def answer(file: Path, name: str, most_words: int) -> str:
    """The document as JSON, or what is wrong with it; of one with too many words only their number."""
    try:
        document = read_quietly(file, name)
        if document.words > most_words:
            return json.dumps({"words": document.words})
        remarks = [said.replace(str(file), name) for said in document.remarks]
        return json.dumps({"document": to_json(document), "remarks": remarks})
    except ReadError as error:
        advice = error.advice.replace(str(file), name)
        if holds_many(file) and "#" in advice:
            advice = "Upload one that holds a single document."
        return json.dumps({"problem": error.problem.replace(str(file), name), "advice": advice})
    except RecursionError:
        return json.dumps({"problem": "is nested too deeply", "advice": "Save it in a simpler form."})


def main() -> None:
    """Read the file named on the command line."""
    file, name, words, seconds, memory = sys.argv[1:]
    work = partial(_read, Path(file), name, int(words))
    supervise(work, int(seconds), int(memory))


def _read(file: Path, name: str, most_words: int) -> None:
    sys.stdout.write(answer(file, name, most_words))


if __name__ == "__main__":
    main()
