"""Questions answered by processes of their own, once more than one is asked at a time."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from longmatch.library.library import Library
from longmatch.web.limits import Limits
from longmatch.web.rankers import Rankers
from tests.web.conftest import real_server, upload

IDS = [f"report-{n}.md" for n in range(7)]


PROCESS = """
import sys
from pathlib import Path
from longmatch.library.library import Library
from longmatch.web.ranking_process import serve
from tests.library.tiny import tiny_matcher
serve(Library(sys.argv[1], tiny_matcher(Path(sys.argv[2])), create=False))
"""


@contextmanager
def two_processes(shelf: Library, tiny_bert: Path) -> Iterator[httpx.Client]:
    """A client of a server that may use two processes."""
    limits = Limits(rankers=2)
    with real_server(shelf, limits=limits) as client:
        command = [sys.executable, "-c", PROCESS, shelf.address, str(tiny_bert)]
        client.state.rankers = Rankers(shelf.address, limits, command)
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
    assert not served.state.rankers._opening and not served.state.rankers.ready


def test_a_question_that_must_wait_starts_them(served) -> None:
    busy, free = threading.Event(), threading.Event()
    served.state.worker.begin(lambda: (busy.set(), free.wait(20)))
    assert busy.wait(20)
    with ThreadPoolExecutor(1) as pool:
        asked = pool.submit(ask, served, IDS[0])
        while not served.state.rankers._opening and not served.state.rankers.ready:
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


def test_a_killed_process_costs_its_questions_and_no_more(running) -> None:
    rankers = running.state.rankers
    while len(rankers._processes) < 2:
        time.sleep(0.05)
    for process in list(rankers._processes):
        os.kill(process.pid, signal.SIGKILL)
    with ThreadPoolExecutor(8) as threads:
        statuses = list(threads.map(lambda id: ask(running, id).status_code, IDS * 3))
    assert set(statuses) <= {200, 503} and statuses.count(503) <= 2
    end = time.monotonic() + 60
    while len(rankers._processes) < 2 and time.monotonic() < end:
        time.sleep(0.05)
    assert len(rankers._processes) == 2 and ask(running, IDS[0]).status_code == 200


def test_nobody_waits_for_processes_that_cannot_open_the_library(served) -> None:
    rankers = started(served)
    while len(rankers._processes) < 2:
        time.sleep(0.05)
    rankers._command = [sys.executable, "-c", "raise SystemExit(1)"]
    for process in list(rankers._processes):
        os.kill(process.pid, signal.SIGKILL)
    with ThreadPoolExecutor(8) as threads:
        statuses = list(threads.map(lambda id: ask(served, id).status_code, IDS * 3))
    assert set(statuses) <= {200, 503}
    assert not rankers.ready and ask(served, IDS[0]).status_code == 200  # by the thread


def test_a_library_that_cannot_be_opened_again_is_served_by_the_thread(served) -> None:
    served.state.rankers = Rankers("nowhere", Limits(rankers=2), [sys.executable, "-c", "raise SystemExit(1)"])
    with ThreadPoolExecutor(8) as threads:
        answers = list(threads.map(lambda id: ask(served, id).status_code, IDS * 5))
    assert set(answers) == {200} and not served.state.rankers.ready


def test_they_end_with_the_server(shelf: Library, tiny_bert: Path) -> None:
    with two_processes(shelf, tiny_bert) as client:
        processes = list(started(client)._processes)
    end = time.monotonic() + 20
    while any(Path(f"/proc/{p.pid}/exe").exists() for p in processes) and time.monotonic() < end:
        time.sleep(0.05)
    assert not any(Path(f"/proc/{process.pid}/exe").exists() for process in processes)


def test_no_more_wait_than_may(running, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running.state.rankers, "_waiting", Limits().waiting)
    answer = ask(running, IDS[0])
    assert answer.status_code == 429 and answer.headers["retry-after"]


def test_one_ends_with_its_input(shelf: Library, tiny_bert: Path) -> None:
    """As when the server is killed."""
    command = [sys.executable, "-c", PROCESS, shelf.address, str(tiny_bert)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout.read(8) == (2).to_bytes(8, "big") and process.stdout.read(2) == b"{}"
        process.stdin.close()
        assert process.wait(20) == 0
