"""Commands and questions in processes that start at once: forked from one that has loaded everything.

Nothing of the store is touched before the fork, and every library computes on one thread, so no thread is lost by it.
"""

import faulthandler
import json
import os
import signal
import sys
import time
import traceback
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias
from zlib import crc32

from longmatch.default.matcher import HybridMatcher
from longmatch.documents.document import Document
from longmatch.documents.read import read_text_string
from longmatch.encoders.hardware import limit_threads
from longmatch.library import library
from longmatch.library.errors import NotALibrary
from longmatch.library.library import Library
from longmatch.library.model import LibraryModel
from longmatch.library.settings import LibrarySettings
from tests.library.tiny import made_up_text, tiny_matcher, use_by_default

Answer: TypeAlias = tuple[str, float, int]  # id, score, digest of what is shown of it
LONGEST = 120.0  # seconds, after which a process hangs
TOLERANCE = 1e-4  # of scores
QUESTIONS = (3, 11)  # seeds of the texts that every library is asked about


@dataclass(frozen=True)
class Ended:
    """How a process ended, and what it said."""

    status: int  # as that of a shell: minus the signal that ended it
    seconds: float
    answer: Any = None
    errors: str = ""

    @property
    def hangs(self) -> bool:
        """Whether it was stopped because it did not end."""
        return "Timeout (" in self.errors

    @property
    def is_killed(self) -> bool:
        """Whether it was killed before it was done."""
        return self.status == -signal.SIGKILL


@cache
def matcher_of(model: Path) -> HybridMatcher:
    """The tiny model, loaded once, before any fork."""
    limit_threads(1)
    return tiny_matcher(model)


def prepare(model: Path) -> None:
    """Let commands of this process use the tiny model, and commit often."""
    import lancedb.index
    import lancedb.query
    import openvino
    import tqdm

    from longmatch.cli import app

    matcher = matcher_of(model)
    if (monitor := tqdm.tqdm.monitor) is not None:
        monitor.exit()  # a thread
    assert all((lancedb.query, openvino, app))  # children need not import them
    warnings.filterwarnings("ignore", "lancedb fork support", RuntimeWarning)  # nothing of it runs before the fork
    library.HybridMatcher = lambda: matcher  # type: ignore[misc,assignment]
    library.shipped_statistics = lambda: matcher.statistics  # type: ignore[assignment]
    LibraryModel.load_matcher = lambda self, address: matcher  # type: ignore[method-assign]
    use_by_default(LibrarySettings(commit_documents=2, fragments=3))  # so that compacting is killed too


def command(*words: object) -> Callable[[], None]:
    """The command, as a user runs it."""

    def run() -> None:
        from longmatch.cli.app import main

        sys.argv = ["longmatch", *map(str, words)]
        main()

    return run


class Child:
    """A process that does some work, and says what the work returns, as JSON."""

    def __init__(self, work: Callable[[], Any]) -> None:
        self._answers, answering = os.pipe()
        self._complaints, complaining = os.pipe()
        self.began = time.monotonic()
        self.id = os.fork()
        if not self.id:
            os.setsid()
            faulthandler.dump_traceback_later(LONGEST, exit=True)
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            os.dup2(complaining, 2)
            os._exit(_answered(work, answering))
        os.close(answering)
        os.close(complaining)

    def kill(self, after: float) -> None:
        """Kill it so many seconds after its beginning."""
        time.sleep(max(0.0, self.began + after - time.monotonic()))
        try:
            os.killpg(self.id, signal.SIGKILL)
        except ProcessLookupError:  # it has not made its group yet, or is done
            os.kill(self.id, signal.SIGKILL)

    def end(self) -> Ended:
        """Wait until it ends."""
        said, errors = (_read(end) for end in (self._answers, self._complaints))
        _, status = os.waitpid(self.id, 0)
        code = os.waitstatus_to_exitcode(status)
        return Ended(code, time.monotonic() - self.began, json.loads(said) if said else None, errors)


def in_child(work: Callable[[], Any]) -> Ended:
    """Do something in another process; once more if it hangs, as a fork may hang for reasons of its own."""
    ended = Child(work).end()
    return Child(work).end() if ended.hangs else ended


def _answered(work: Callable[[], Any], answering: int) -> int:
    code = 0
    try:
        said = json.dumps(work())
        with os.fdopen(answering, "w") as pipe:
            pipe.write(said)
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(bool(end.code))
    except BaseException:  # the find: a user sees one sentence, and never this
        traceback.print_exc()
        code = 70
    sys.stderr.flush()
    return code


def _read(end: int) -> str:
    with os.fdopen(end, "rb") as pipe:
        return pipe.read().decode("utf-8", "replace")


def state(address: Path) -> dict[str, Any] | None:
    """What a user can see of a library: its documents, and its answers; None if there is none."""
    try:
        opened = Library(address, create=False)
    except NotALibrary:
        return None
    texts = {document.id: document.text for document in opened.documents}
    return {
        "texts": texts,
        "count": len(opened),
        "model": opened.summary()["backbone"],
        "answers": answers(opened, sorted(texts)[::8]) if texts else [],
    }


def run_again(work: Callable[[], None], address: Path) -> dict[str, Any] | None:
    """Run a command that was killed, and see what it leaves; what is removed already cannot be removed again."""
    try:
        work()
    except SystemExit as end:
        if end.code and not (end.code == 2 and "remove" in sys.argv):
            raise
    return state(address)


def answers(opened: Library, ids: Sequence[str]) -> list[list[Answer]]:
    """The rankings for fixed texts and for some of the library's documents, its best sections, and a search."""
    queries = [read_text_string(made_up_text(seed, 6), f"question {seed}") for seed in QUESTIONS]
    found = [[_answer(hit.document, hit.score, hit.why) for hit in opened.rank(q, k=4)] for q in (*queries, *ids)]
    found += [[_answer(hit.document, hit.score, [hit.passage]) for hit in opened.rank_sections(queries[0], k=5)]]
    return [*found, [(id, 0.0, 0) for id in sorted(opened.find_ids("river", 100))]]


def _answer(document: Document, score: float, passages: Sequence[object]) -> Answer:
    shown = document.title + document.text + repr([section.heading for section in document.sections])
    return document.id, score, crc32(f"{shown}{len(passages)}".encode())


def differences(found: Sequence[Sequence[Any]], wanted: Sequence[Sequence[Any]]) -> list[str]:
    """Where answers name other documents, show other texts, or score them differently."""
    if len(found) != len(wanted):
        return [f"{len(found)} answers, not {len(wanted)}"]
    return [
        f"answer {number}: {one} is not {other}"
        for number, pair in enumerate(zip(found, wanted, strict=True))
        if not _is_same(*pair)
        for one, other in [pair]
    ]


def _is_same(one: Sequence[Any], other: Sequence[Any]) -> bool:
    """Scores differ in the last bits, by the batch that a document was encoded in; such ties may change places."""
    if len(one) != len(other) or any(abs(a[1] - b[1]) > TOLERANCE for a, b in zip(one, other, strict=True)):
        return False
    known = {a[0]: a for a in one}
    return all(b[0] not in known or (abs(known[b[0]][1] - b[1]) <= TOLERANCE and known[b[0]][2] == b[2]) for b in other)
