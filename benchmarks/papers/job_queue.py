"""Run many jobs in a few long-lived processes: each starts when its prerequisites are done, in the order given.

A job that finds too little GPU memory beside the others goes back to the head of the queue, and from then on one job
fewer runs at a time; trainings resume where they stopped.
"""

import gc
import time
import traceback
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

import torch

from longmatch.parallel import use_processes

OUT_OF_MEMORY = ("CUDA out of memory", "CUDA error: out of memory", "ALLOC_FAILED", "mha_graph")  # torch and cuDNN


@dataclass(frozen=True)
class QueuedJob:
    """A picklable piece of work, the names of the jobs it needs, and the file its output goes to."""

    name: str
    work: Callable[[], object]
    log: Path
    needs: tuple[str, ...] = ()
    large: bool = False  # takes much of the GPU: only a few run at a time

    def run(self) -> tuple[str, bool]:
        """The error message, empty on success, and whether GPU memory was the reason; the log says more."""
        error, out_of_memory = "", False
        self.log.parent.mkdir(parents=True, exist_ok=True)
        with self.log.open("a", buffering=1) as log, redirect_stdout(log), redirect_stderr(log):
            try:
                self.work()
            except Exception as raised:  # whatever it is, the other jobs go on
                traceback.print_exc()
                error, out_of_memory = f"{type(raised).__name__}: {raised}", is_out_of_memory(raised)
        if torch.cuda.is_available():
            gc.collect()
            torch.cuda.empty_cache()  # the other processes need it
        return error, out_of_memory


def is_out_of_memory(error: BaseException | None) -> bool:
    """Whether an error, or one that caused it, is for want of GPU memory.

    >>> is_out_of_memory(RuntimeError("CUDA error: out of memory")), is_out_of_memory(ValueError("no memory of it"))
    (True, False)
    """
    while error is not None:
        if any(sign in str(error) for sign in OUT_OF_MEMORY):
            return True
        error = error.__cause__
    return False


def start_worker(cores: int, readers: int) -> None:
    """Limit the threads of torch, and the processes that read documents."""
    torch.set_num_threads(cores)
    use_processes(readers)


def run_all(jobs: Sequence[QueuedJob], at_a_time: int, cores: int, readers: int = 1) -> int:
    """Run all jobs and report each when it finishes; returns how many failed."""
    began, waiting, running = time.monotonic(), list(jobs), dict[Future[tuple[str, bool]], QueuedJob]()
    done, failed = set[str](), set[str]()

    def report(what: str) -> None:
        print(f"{len(done) + len(failed)} of {len(jobs)} after {time.monotonic() - began:.0f} s: {what}", flush=True)

    def finish(job: QueuedJob, error: str) -> None:
        (failed if error else done).add(job.name)
        report(f"{job.name} {error or 'is done'}")

    spawn = get_context("spawn")
    with ProcessPoolExecutor(at_a_time, spawn, initializer=start_worker, initargs=(cores, readers)) as pool:
        while waiting or running:
            for job in [job for job in waiting if failed.intersection(job.needs)]:
                waiting.remove(job)
                finish(job, "skipped: a job it needs has failed")
            for job in [job for job in waiting if done.issuperset(job.needs)]:
                large = sum(other.large for other in running.values())
                if len(running) < at_a_time and not (job.large and large >= max(1, at_a_time // 3)):
                    waiting.remove(job)
                    running[pool.submit(job.run)] = job
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                job, (error, out_of_memory) = running.pop(future), future.result()
                if out_of_memory and running:
                    at_a_time = max(1, min(at_a_time - 1, len(running)))
                    waiting.insert(0, job)
                    report(f"{job.name} found too little GPU memory; from now on {at_a_time} at a time")
                else:
                    finish(job, error)
    return len(failed)
