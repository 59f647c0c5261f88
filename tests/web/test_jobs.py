"""The scoring thread, and the jobs that it does."""

import threading

from longmatch.web.jobs import Worker


def test_whoever_gets_an_answer_finds_it_free() -> None:
    worker, listening, found = Worker(waiting=1), threading.Event(), list[bool]()
    job = worker.begin(listening.wait)
    job.add_done_callback(lambda _: found.append(worker.busy))
    listening.set()
    job.result()
    worker.close()
    assert found == [False]


def test_a_job_is_done_though_others_keep_asking():
    worker, end = Worker(waiting=10), threading.Event()

    def ask_again() -> None:
        if not end.is_set():
            worker.question(ask_again)

    def steps() -> str:
        for _ in range(3):
            worker.breathe()
        return "done"

    for _ in range(4):
        worker.question(ask_again)
    try:
        assert worker.begin(steps).result(20) == "done"
    finally:
        end.set()
        worker.close()
