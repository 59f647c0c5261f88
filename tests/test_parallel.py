"""Work spread over processes comes back in order, whatever their number."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from multiprocessing import get_context
from pathlib import Path

import pytest

from longmatch.errors import LongmatchError
from longmatch.parallel import parallel_map, use_processes


@pytest.fixture
def two_processes() -> Iterator[None]:
    use_processes(2)
    yield
    use_processes(1)


@pytest.mark.usefixtures("two_processes")
def test_results_come_in_the_order_of_the_items() -> None:
    assert list(parallel_map(abs, range(-500, 0))) == list(range(500, 0, -1))


@pytest.mark.usefixtures("two_processes")
def test_only_a_bounded_number_of_items_is_taken_ahead() -> None:
    taken: list[int] = []

    def items() -> Iterator[int]:
        for item in range(10_000):
            taken.append(item)
            yield item

    first = next(parallel_map(abs, items()))
    assert first == 0
    assert len(taken) < 200


def map_there() -> None:
    use_processes(2)
    assert list(parallel_map(abs, range(-20, 0))) == list(range(20, 0, -1))


def test_a_process_of_another_that_spread_its_work_comes_to_an_end() -> None:
    process = get_context("spawn").Process(target=map_there)
    process.start()
    process.join(120)
    ended, code = not process.is_alive(), process.exitcode
    process.kill()
    assert ended and code == 0


class Deadly(int):
    """A number that kills the process that works on it."""


def double(number: int) -> int:
    if isinstance(number, Deadly):
        os._exit(1)
    return 2 * number


def test_an_item_that_kills_its_process_is_handed_over_and_the_others_are_done_in_order() -> None:
    items = [Deadly(n) if n in {7, 8, 30} else n for n in range(40)]
    results = list(parallel_map(double, items, 2, chunk=3, on_crash=lambda item: -int(item)))
    assert results == [-n if n in {7, 8, 30} else 2 * n for n in range(40)]


def test_without_such_a_hand_over_a_killed_process_is_an_error_of_one_sentence() -> None:
    with pytest.raises(LongmatchError, match=r"A worker process was stopped.* Use fewer processes\."):
        list(parallel_map(double, [*range(30), Deadly(30)], 2))


@pytest.mark.usefixtures("two_processes")
def test_processes_that_were_killed_are_replaced_for_the_next_call() -> None:
    with pytest.raises(LongmatchError):
        list(parallel_map(double, [*range(30), Deadly(30)]))
    assert list(parallel_map(double, range(30))) == list(range(0, 60, 2))


base = 0


def set_base() -> None:
    global base  # noqa: PLW0603
    base = 1000


def above_base(number: int) -> tuple[int, int]:
    return base + number, os.getpid()


@pytest.mark.parametrize("processes", [1, 2])
def test_each_process_is_set_up_before_its_first_item(processes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(globals(), "base", 0)
    results = list(parallel_map(above_base, range(40), processes, setup=set_base))
    assert [number for number, _ in results] == list(range(1000, 1040))
    assert (os.getpid() in {process for _, process in results}) == (processes == 1)


def test_an_error_of_the_work_is_raised() -> None:
    with pytest.raises(ValueError, match="invalid literal"):
        list(parallel_map(int, ["1"] * 20 + ["x"], 2))


SCRIPT = """
import os, sys, threading
from pathlib import Path
from longmatch.errors import LongmatchError
from longmatch.parallel import parallel_map

print("script")
def facts(number):
    return os.getpid(), os.environ["OMP_NUM_THREADS"]

results = parallel_map(facts, range(100_000), 2)
workers = {next(results) for _ in range(64)}
assert all(threads == "1" for _, threads in workers)
print(*(process for process, _ in workers), flush=True)
os.kill(os.getpid(), 9)
"""


def test_a_script_without_a_guard_runs_once_and_its_processes_end_with_it_when_it_is_killed(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(SCRIPT)
    done = subprocess.run([sys.executable, tmp_path / "script.py"], capture_output=True, text=True, check=False)
    said, workers = done.stdout.splitlines()
    assert (said, done.returncode) == ("script", -9)
    until = time.monotonic() + 30
    while any(Path(f"/proc/{worker}").exists() for worker in workers.split()) and time.monotonic() < until:
        time.sleep(0.1)
    assert not [worker for worker in workers.split() if Path(f"/proc/{worker}").exists()]


def test_a_pool_can_be_made_while_another_thread_imports_loky() -> None:
    code = """
import importlib, sys, threading
from longmatch.parallel import new_pool

sys.setswitchinterval(1e-5)
other = threading.Thread(target=importlib.import_module, args=("loky",))
other.start()
while "loky" not in sys.modules:
    pass
new_pool(1, None).shutdown()
other.join()
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
