"""Workers without a model: what they are given, what they say, and what happens when they die."""

import os
from pathlib import Path
from typing import Any

import pytest

from longmatch.distributed.cluster import WorkerPool, WorkerResources
from longmatch.errors import LongmatchError

pytestmark = pytest.mark.slow


class Doubler:
    """Doubles numbers, complains about 13, and dies over a number as often as its folder says."""

    def __init__(self, deaths: Path) -> None:
        self.deaths = deaths

    def ready(self) -> None:
        pass

    def do(self, number: int) -> int:
        if number == 13:
            raise LongmatchError("Thirteen is not doubled.")
        left = self.deaths / str(number)
        if left.exists() and left.read_text() != "0":
            left.write_text(str(int(left.read_text()) - 1))
            os._exit(1)
        return 2 * number


@pytest.fixture
def pool(cluster: Any, tmp_path: Path) -> WorkerPool[int]:
    import ray

    actor = ray.remote(num_cpus=0.5)(Doubler)
    return WorkerPool(ray, 3, lambda: actor.remote(tmp_path), lambda worker, number: worker.do.remote(number))


def test_every_job_is_done_once_though_workers_die(pool: WorkerPool[int], tmp_path: Path) -> None:
    (tmp_path / "3").write_text("2")
    (tmp_path / "7").write_text("1")
    with pool:
        assert sorted(pool.work(iter(range(12)))) == [(number, 2 * number) for number in range(12)]


def test_a_job_that_kills_every_worker_is_given_up_in_one_sentence(pool: WorkerPool[int], tmp_path: Path) -> None:
    (tmp_path / "3").write_text("99")
    with pool, pytest.raises(LongmatchError, match="4 workers died over the same documents") as error:
        list(pool.work(iter(range(5))))
    assert "\n" not in str(error.value)


def test_what_a_worker_complains_about_is_said_as_it_said_it(pool: WorkerPool[int]) -> None:
    with pool, pytest.raises(LongmatchError, match=r"^Thirteen is not doubled\.$"):
        list(pool.work(iter([1, 13])))


def test_a_whole_gpu_goes_to_a_worker_where_there_are_some() -> None:
    nodes = [{"Alive": True, "Resources": {"CPU": 16.0, "GPU": 2.0}}, {"Alive": True, "Resources": {"CPU": 8.0}}]
    assert WorkerResources().allocate(nodes).workers == 2
    assert WorkerResources(gpus=0.25).allocate(nodes).workers == 8
    assert WorkerResources(gpus=0).allocate(nodes).workers == 24
    assert WorkerResources(cpus=0.5, gpus=0).allocate(nodes).workers == 48
