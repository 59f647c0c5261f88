"""The process that reads one upload: `python -m longmatch.web.reading.child FILE NAME WORDS SECONDS BYTES`.

It gives up what it does not need before it opens the file: it may use little memory and time, write no file and dump no
core. The answer goes to standard output as JSON: {"document": ..., "remarks": [...]}, {"words": ...} of one
that is too long, or {"problem": ..., "advice": ...}.
"""

import json
import sys
from pathlib import Path

from longmatch.documents.read import COLLECTION_SUFFIXES, read
from longmatch.errors import ReadError, collected_warnings
from longmatch.web.reading.wire import to_json


def limit(seconds: int, memory: int) -> None:
    """Bound this process, where the system knows how."""
    try:
        import resource
    except ImportError:  # not on Windows: there the time limit of the parent holds alone
        return
    for kind, value in (
        (resource.RLIMIT_AS, memory),
        (resource.RLIMIT_CPU, seconds),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
    ):
        _, most = resource.getrlimit(kind)
        least = value if most == resource.RLIM_INFINITY else min(value, most)
        resource.setrlimit(kind, (least, least))


def answer(file: Path, name: str, most_words: int) -> str:
    """The document as JSON, or what is wrong with it; of one with too many words only their number."""
    try:
        with collected_warnings() as remarks:
            document = read(file, name)
        if document.words > most_words:
            return json.dumps({"words": document.words})
        return json.dumps(
            {"document": to_json(document), "remarks": [said.replace(str(file), name) for said in remarks]}
        )
    except ReadError as error:
        advice = error.advice.replace(str(file), name)
        if name.lower().endswith(COLLECTION_SUFFIXES) and "#" in advice:
            advice = "Upload one that holds a single document."
        return json.dumps({"problem": error.problem.replace(str(file), name), "advice": advice})
    except MemoryError:
        return json.dumps({"problem": "needs more memory to be read than an upload may", "advice": "Index it instead."})
    except RecursionError:
        return json.dumps({"problem": "is nested too deeply", "advice": "Save it in a simpler form."})


def main() -> None:
    """Read the file named on the command line."""
    file, name, words, seconds, memory = sys.argv[1:]
    limit(int(seconds), int(memory))
    sys.stdout.write(answer(Path(file), name, int(words)))


if __name__ == "__main__":
    main()
