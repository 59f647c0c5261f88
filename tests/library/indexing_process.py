"""Indexes in processes of its own that start at once: forked from one that has everything loaded.

A job is {"library", "paths", "kill_after"}; one with `kill_after` is killed (SIGKILL) after so many seconds. Nothing of
the store is touched before the fork, so that no thread is lost by it.
"""

import json
import os
import signal
import time
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path

from longmatch.encoders.hardware import limit_threads
from longmatch.library.library import Library
from longmatch.library.settings import LibrarySettings
from tests.library.tiny import tiny_matcher, use_by_default


def index(job: dict, matcher) -> dict:
    library = Library(job["library"], matcher)
    done = library.add(job["paths"], prune=True)
    return done.to_dict() | {"state": state(library)}


def state(library: Library) -> dict:
    """All a user can see: the documents and the rankings."""
    texts = {document.id: hash(document.text) for document in library.documents}
    ranked = {id: [(hit.id, round(hit.score, 6)) for hit in library.rank(id, k=3)] for id in list(library)[::15]}
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


def serve(model: Path, pipe: Connection) -> None:
    """Take jobs and answer them, one at a time, until the other end is closed."""
    limit_threads(1)
    use_by_default(LibrarySettings(commit_documents=2))  # many commits
    matcher = tiny_matcher(model)
    pipe.send("ready")
    with suppress(EOFError):
        while True:
            pipe.send(run(pipe.recv(), matcher))
