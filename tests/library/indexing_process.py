"""Indexes in processes of its own that start at once: forked from one that has everything loaded.

    python -m tests.library.indexing_process MODEL

Reads one JSON line a job: {"library", "paths", "kill_after"}; answers with one line. A job with `kill_after` is killed
(SIGKILL) after so many seconds. Nothing of the store is touched before the fork, so that no thread is lost by it.
"""

import json
import os
import signal
import sys
import time
from pathlib import Path

import lancedb  # noqa: F401  (it starts itself anew in a forked process; loading it takes longest)
import torch

from longmatch.library import adding
from longmatch.library.library import Library

from .tiny import tiny_matcher

adding.STEP_DOCUMENTS = 4  # many commits


def index(job: dict, matcher) -> dict:
    library = Library(job["library"], matcher)
    done = library.add([Path(p) for p in job["paths"]], prune=True)
    return done.to_dict() | {"state": state(library)}


def state(library: Library) -> dict:
    """All a user can see: the documents and the rankings."""
    texts = {document.id: hash(document.text) for document in library.documents}
    ranked = {id: [(hit.id, round(hit.score, 6)) for hit in library.rank(id, k=3)] for id in list(library)[::11]}
    return {"texts": texts, "ranked": ranked, "rows": len(library)}


def run(job: dict, matcher) -> dict:
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.close(reading)
        answer = json.dumps(index(job, matcher)).encode()
        with os.fdopen(writing, "wb") as pipe:
            pipe.write(answer)
        os._exit(0)
    os.close(writing)
    if job.get("kill_after") is not None:
        time.sleep(job["kill_after"])
        os.kill(child, signal.SIGKILL)
    began = time.monotonic()
    with os.fdopen(reading, "rb") as pipe:
        answer = pipe.read()
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status) or not answer:
        return {"killed": True}
    return json.loads(answer) | {"seconds": time.monotonic() - began}


def main() -> None:
    torch.set_num_threads(1)
    matcher = tiny_matcher(Path(sys.argv[1]))
    print("ready", flush=True)
    for line in sys.stdin:
        print(json.dumps(run(json.loads(line), matcher)), flush=True)


if __name__ == "__main__":
    main()
