"""Many pieces of work in a few processes that stay: each begins when what it needs is done, in the order given."""

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
    """Something a process can be sent."""

    def run(self, cores: int) -> None:
        """Do it, with so many cores."""


@dataclass(frozen=True)
class Task:
    """A piece of work, the names of those it needs, and where what it prints goes."""

    name: str
    work: Work
    log: Path
    needs: tuple[str, ...] = ()
    large: bool = False  # takes much of the GPU: few of them run at a time

    def run(self, cores: int) -> str:
        """What went wrong, if anything did; the log says more."""
        import torch

        torch.set_num_threads(cores)
        self.log.parent.mkdir(parents=True, exist_ok=True)
        with self.log.open("a", buffering=1) as log, redirect_stdout(log), redirect_stderr(log):
            try:
                self.work.run(cores)
            except Exception as error:  # whatever it is, the others go on
                traceback.print_exc()
                return f"{type(error).__name__}: {error}"
        if torch.cuda.is_available():
            torch.cuda.empty_cache()  # the other processes need it
        return ""


def run_all(tasks: Sequence[Task], at_a_time: int, cores: int) -> int:
    """Run them and tell of each when it is done; how many could not be done."""
    began, waiting, running = time.monotonic(), list(tasks), dict[Future[str], Task]()
    done, failed = set[str](), set[str]()

    def tell(task: Task, wrong: str) -> None:
        (failed if wrong else done).add(task.name)
        so_far = f"{len(done) + len(failed)} of {len(tasks)} after {time.monotonic() - began:.0f} s"
        print(f"{so_far}: {task.name} {wrong or 'is done'}", flush=True)

    with ProcessPoolExecutor(at_a_time, mp_context=get_context("spawn")) as pool:
        while waiting or running:
            for task in [task for task in waiting if failed.intersection(task.needs)]:
                waiting.remove(task)
                tell(task, "needs what could not be done")
            for task in [task for task in waiting if done.issuperset(task.needs)]:
                large = sum(other.large for other in running.values())
                if len(running) < at_a_time and not (task.large and large >= max(1, at_a_time // 3)):
                    waiting.remove(task)
                    running[pool.submit(task.run, cores)] = task
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                tell(running.pop(future), future.result())
    return len(failed)
