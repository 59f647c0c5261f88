"""Workers without a model: what they are given, what they say, and what happens when they die."""

import os
from pathlib import Path
from typing import Any

import pytest

from longmatch.distributed.crew import Crew, Share
from longmatch.errors import LongmatchError


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
def crew(cluster: Any, tmp_path: Path) -> Crew[int]:
    import ray

    actor = ray.remote(num_cpus=0.5)(Doubler)
    return Crew(ray, 3, lambda: actor.remote(tmp_path), lambda worker, number: worker.do.remote(number))


def test_every_job_is_done_once_though_workers_die(crew: Crew[int], tmp_path: Path) -> None:
    (tmp_path / "3").write_text("2")
    (tmp_path / "7").write_text("1")
    with crew:
        assert sorted(crew.work(iter(range(12)))) == [(number, 2 * number) for number in range(12)]


def test_a_job_that_kills_every_worker_is_given_up_in_one_sentence(crew: Crew[int], tmp_path: Path) -> None:
    (tmp_path / "3").write_text("99")
    with crew, pytest.raises(LongmatchError, match="4 workers died over the same documents") as error:
        list(crew.work(iter(range(5))))
    assert "\n" not in str(error.value)


def test_what_a_worker_complains_about_is_said_as_it_said_it(crew: Crew[int]) -> None:
    with crew, pytest.raises(LongmatchError, match=r"^Thirteen is not doubled\.$"):
        list(crew.work(iter([1, 13])))


def test_a_whole_gpu_goes_to_a_worker_where_there_are_some() -> None:
    nodes = [{"Alive": True, "Resources": {"CPU": 16.0, "GPU": 2.0}}, {"Alive": True, "Resources": {"CPU": 8.0}}]
    assert Share().among(nodes).workers == 2
    assert Share(gpus=0.25).among(nodes).workers == 8
    assert Share(gpus=0).among(nodes).workers == 24
    assert Share(cpus=0.5, gpus=0).among(nodes).workers == 48
