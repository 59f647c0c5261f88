"""Questions answered by processes of their own, once more than one is asked at a time."""

import os
import signal
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

import httpx
import pytest

from longmatch.library.library import Library
from longmatch.web.limits import Limits
from longmatch.web.rankers import Ranker, Rankers
from longmatch.web.state import ranker_of
from tests.library.tiny import tiny_matcher
from tests.web.conftest import real_server, upload

IDS = [f"report-{n}.md" for n in range(7)]


def open_tiny(address: str, backbone: Path) -> Ranker:
    """In a process: what answers about a library of the tiny model."""
    return ranker_of(Library(address, tiny_matcher(backbone), create=False))


def open_nothing() -> Ranker:
    """As where the library cannot be opened again."""
    raise SystemExit(1)


@contextmanager
def two_processes(shelf: Library, tiny_bert: Path) -> Iterator[httpx.Client]:
    """A client of a server that may use two processes."""
    limits = Limits(rankers=2)
    with real_server(shelf, limits=limits) as client:
        client.state.rankers = Rankers(partial(open_tiny, shelf.address, tiny_bert), limits)
        yield client


@pytest.fixture
def served(shelf: Library, tiny_bert: Path) -> Iterator[httpx.Client]:
    """A server whose processes have not started."""
    with two_processes(shelf, tiny_bert) as client:
        yield client


@pytest.fixture(scope="module")
def running(shelf: Library, tiny_bert: Path) -> Iterator[httpx.Client]:
    """A server whose processes are ready; tests leave it so."""
    with two_processes(shelf, tiny_bert) as client:
        started(client)
        yield client


def pids() -> set[int]:
    """Of the processes that this one has started by loky."""
    children = "".join(tasks.read_text() for tasks in Path("/proc/self/task").glob("*/children")).split()
    found = set()
    for pid in children:
        with suppress(OSError):  # it has ended meanwhile
            if b"popen_loky" in Path(f"/proc/{pid}/cmdline").read_bytes():
                found.add(int(pid))
    return found


def ask(client: httpx.Client, id: str) -> httpx.Response:
    return client.get("/rank", params={"document": id})


def started(client) -> Rankers:
    """The processes, ready: the first questions asked together start them."""
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda id: ask(client, id), IDS * 3))
    end = time.monotonic() + 60
    while not client.state.rankers.ready and time.monotonic() < end:
        time.sleep(0.05)
    assert client.state.rankers.ready
    return client.state.rankers


def test_who_asks_alone_needs_no_processes(served) -> None:
    for id in IDS:
        assert ask(served, id).status_code == 200
    assert not served.state.rankers.started


def test_a_question_that_must_wait_starts_them(served) -> None:
    busy, free = threading.Event(), threading.Event()
    served.state.worker.begin(lambda: (busy.set(), free.wait(20)))
    assert busy.wait(20)
    with ThreadPoolExecutor(1) as pool:
        asked = pool.submit(ask, served, IDS[0])
        while not served.state.rankers.started:
            time.sleep(0.01)
        free.set()
        assert asked.result().status_code == 200


def test_they_answer_what_the_scoring_thread_answers(served, running, monkeypatch: pytest.MonkeyPatch) -> None:
    alone = {id: ask(served, id).json() for id in IDS}
    monkeypatch.setattr(running.state.worker, "ask", None)  # nothing is left to the thread
    with ThreadPoolExecutor(8) as threads:
        answers = list(threads.map(lambda n: ask(running, IDS[n % 7]), range(21)))
    assert [answer.json() for answer in answers] == [alone[IDS[n % 7]] for n in range(21)]
    assert {answer.headers["content-type"] for answer in answers} == {"application/json"}


def test_mistakes_and_uploads_are_answered_as_ever(running) -> None:
    missing = ask(running, "nowhere")
    assert missing.status_code == 404 and "nowhere" in missing.json()["detail"]
    where = running.get("/rank", params={"document": IDS[0], "where": "no such thing"})
    assert where.status_code == 422 and "Traceback" not in where.text
    id = upload(running, "The river rose. " * 30, base="").json()["upload"]
    assert ask(running, id).status_code == 200


def test_a_killed_process_costs_no_question(running) -> None:
    rankers = running.state.rankers
    killed = pids()
    with ThreadPoolExecutor(8) as threads:
        asked = [threads.submit(ask, running, id) for id in IDS * 3]
        for pid in killed:
            os.kill(pid, signal.SIGKILL)
        assert {question.result().status_code for question in asked} == {200}
    end = time.monotonic() + 60
    while not rankers.ready and time.monotonic() < end:
        time.sleep(0.05)
    assert ask(running, IDS[0]).status_code == 200
    assert len(pids() - killed) == 2


def test_nobody_waits_for_processes_that_cannot_open_the_library(served) -> None:
    others = pids()
    rankers = started(served)
    rankers.open_ranker = open_nothing
    for pid in pids() - others:
        os.kill(pid, signal.SIGKILL)
    with ThreadPoolExecutor(8) as threads:
        statuses = list(threads.map(lambda id: ask(served, id).status_code, IDS * 3))
    assert set(statuses) <= {200, 503}
    end = time.monotonic() + 60
    while rankers.started and time.monotonic() < end:
        time.sleep(0.05)
    assert not rankers.ready and ask(served, IDS[0]).status_code == 200  # by the thread


def test_a_library_that_cannot_be_opened_again_is_served_by_the_thread(served) -> None:
    served.state.rankers = Rankers(open_nothing, Limits(rankers=2))
    with ThreadPoolExecutor(8) as threads:
        answers = list(threads.map(lambda id: ask(served, id).status_code, IDS * 5))
    assert set(answers) == {200} and not served.state.rankers.ready


@pytest.mark.slow
def test_they_end_with_the_server(shelf: Library, tiny_bert: Path) -> None:
    others = pids()
    with two_processes(shelf, tiny_bert) as client:
        mine = pids() - others if started(client) else set()
    end = time.monotonic() + 20
    while mine & pids() and time.monotonic() < end:
        time.sleep(0.05)
    assert mine and not mine & pids()


def test_no_more_wait_than_may(running, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running.state.rankers, "waiting", Limits().waiting)
    answer = ask(running, IDS[0])
    assert answer.status_code == 429 and answer.headers["retry-after"]
