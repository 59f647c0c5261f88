"""Stages overlap, and what comes of them is what comes of one after another."""

import signal
from _thread import interrupt_main
from threading import Event, Lock
from time import sleep

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from longmatch.library.pipeline import Pipeline


@settings(deadline=None)
@given(st.lists(st.integers(), max_size=12))
def test_items_leave_in_the_order_they_came(numbers):
    left = []
    with Pipeline([lambda n: n * 2, lambda n: n + 1, left.append]) as pipeline:
        for number in numbers:
            pipeline.put(number)
    assert left == [number * 2 + 1 for number in numbers]


def test_one_stage_works_while_the_next_does():
    second_began, first_came_again = Event(), Event()

    def first(number: int) -> int:
        if number == 2:
            assert second_began.wait(10)
            first_came_again.set()
        return number

    def second(number: int) -> None:
        if number == 1:
            second_began.set()
            assert first_came_again.wait(10)  # comes only if the first stage goes on meanwhile

    with Pipeline([first, second]) as pipeline:
        pipeline.put(1)
        pipeline.put(2)


def test_few_items_are_on_the_line_at_once():
    lock, on_line, most = Lock(), set(), 0

    def leave(number: int) -> None:
        with lock:
            on_line.discard(number)

    with Pipeline([lambda n: n, lambda n: n, leave]) as pipeline:
        for number in range(200):
            pipeline.put(number)
            with lock:
                on_line.add(number)
                most = max(most, len(on_line))
    assert most <= 7  # one in each of three stages, one before each, and the one just handed over


@pytest.mark.parametrize("stage", [0, 1, 2])
def test_an_error_is_raised_after_what_came_before_it_and_without_what_came_after(stage):
    left = []

    def maybe(number: int) -> int:
        if number == 5:
            raise ValueError("five")
        return number

    stages = [lambda n: n, lambda n: n, lambda n: n]
    stages[stage] = maybe
    with pytest.raises(ValueError, match="five"), Pipeline([*stages, left.append]) as pipeline:
        for number in range(100):
            pipeline.put(number)
    assert left == [0, 1, 2, 3, 4]


def test_of_two_errors_the_one_of_the_earlier_item_is_raised():
    second_failed = Event()

    def first(number: int) -> int:
        if number == 2:
            second_failed.set()
            raise ValueError("the later item, earlier in time")
        return number

    def last(number: int) -> None:
        assert second_failed.wait(10)
        raise ValueError("the earlier item")

    with pytest.raises(ValueError, match="the earlier item"), Pipeline([first, last]) as pipeline:
        pipeline.put(1)
        pipeline.put(2)


def test_an_interruption_drops_what_is_on_the_line_and_stops_a_long_stage():
    began, left = Event(), []

    def long(number: int) -> int:
        began.set()
        while True:
            pipeline.check()

    with pytest.raises(KeyboardInterrupt), Pipeline([long, left.append]) as pipeline:
        pipeline.put(1)
        assert began.wait(10)
        raise KeyboardInterrupt
    assert not left


@pytest.fixture
def heeds_interrupts():
    """As in a terminal; a background job inherits that they are ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("heeds_interrupts")
def test_interrupts_while_it_waits_for_the_end_keep_what_has_come_to_the_last_stage():
    left, waiting = [], Event()

    def keep(number: int) -> None:
        assert waiting.wait(10)
        for _ in range(2):
            interrupt_main()
            sleep(0.1)
        left.append(number)

    with pytest.raises(KeyboardInterrupt), Pipeline([lambda n: n, keep]) as pipeline:
        pipeline.put(1)
        waiting.set()
    assert left == [1]
    assert not any(thread.is_alive() for thread in pipeline._threads)
