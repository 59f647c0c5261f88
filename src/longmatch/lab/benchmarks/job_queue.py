"""Run many jobs in a few long-lived processes: each starts when its prerequisites are done, in the order given."""

import time
import traceback
from collections.abc import Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Protocol


class Work(Protocol):
    """A picklable piece of work."""

    def run(self, cores: int) -> None:
        """Do it on `cores` cores."""


@dataclass(frozen=True)
class QueuedJob:
    """A piece of work, the names of the jobs it needs, and the file its output goes to."""

    name: str
    work: Work
    log: Path
    needs: tuple[str, ...] = ()
    large: bool = False  # takes much of the GPU: only a few run at a time

    def run(self, cores: int) -> str:
        """Do the work; returns the error message, empty on success. The log says more."""
        import torch

        torch.set_num_threads(cores)
        self.log.parent.mkdir(parents=True, exist_ok=True)
        with self.log.open("a", buffering=1) as log, redirect_stdout(log), redirect_stderr(log):
            try:
                self.work.run(cores)
            except Exception as error:  # whatever it is, the other jobs go on
                traceback.print_exc()
                return f"{type(error).__name__}: {error}"
        if torch.cuda.is_available():
            torch.cuda.empty_cache()  # the other processes need it
        return ""


def run_all(jobs: Sequence[QueuedJob], at_a_time: int, cores: int) -> int:
    """Run all jobs and report each when it finishes; returns how many failed."""
    began, waiting, running = time.monotonic(), list(jobs), dict[Future[str], QueuedJob]()
    done, failed = set[str](), set[str]()

    def report(job: QueuedJob, error: str) -> None:
        (failed if error else done).add(job.name)
        progress = f"{len(done) + len(failed)} of {len(jobs)} after {time.monotonic() - began:.0f} s"
        print(f"{progress}: {job.name} {error or 'is done'}", flush=True)

    with ProcessPoolExecutor(at_a_time, mp_context=get_context("spawn")) as pool:
        while waiting or running:
            for job in [job for job in waiting if failed.intersection(job.needs)]:
                waiting.remove(job)
                report(job, "skipped: a job it needs has failed")
            for job in [job for job in waiting if done.issuperset(job.needs)]:
                large = sum(other.large for other in running.values())
                if len(running) < at_a_time and not (job.large and large >= max(1, at_a_time // 3)):
                    waiting.remove(job)
                    running[pool.submit(job.run, cores)] = job
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                report(running.pop(future), future.result())
    return len(failed)
