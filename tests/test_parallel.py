"""Work spread over processes comes back in order, whatever their number."""

from collections.abc import Iterator
from multiprocessing import get_context

import pytest

from longmatch.parallel import spread, use_processes


@pytest.fixture
def two_processes() -> Iterator[None]:
    use_processes(2)
    yield
    use_processes(1)


@pytest.mark.usefixtures("two_processes")
def test_results_come_in_the_order_of_the_items() -> None:
    assert list(spread(abs, range(-500, 0))) == list(range(500, 0, -1))


@pytest.mark.usefixtures("two_processes")
def test_only_a_bounded_number_of_items_is_taken_ahead() -> None:
    taken: list[int] = []

    def items() -> Iterator[int]:
        for item in range(10_000):
            taken.append(item)
            yield item

    first = next(spread(abs, items()))
    assert first == 0
    assert len(taken) < 200


def spread_there() -> None:
    use_processes(2)
    assert list(spread(abs, range(-20, 0))) == list(range(20, 0, -1))


def test_a_process_of_another_that_spread_its_work_comes_to_an_end() -> None:
    process = get_context("spawn").Process(target=spread_there)
    process.start()
    process.join(120)
    ended, code = not process.is_alive(), process.exitcode
    process.kill()
    assert ended and code == 0
