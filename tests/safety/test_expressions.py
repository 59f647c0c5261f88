"""No text makes a regular expression take more than time in proportion to its length."""

import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from tests.safety.expressions import Expression, expressions
from tests.safety.worst_inputs import NAMES, WORST

SIZES = (10_000, 20_000, 40_000, 80_000)  # characters
MOST = 2.0  # seconds of the processor for the longest
GROWTH = 12  # of the time from the second to the longest, four times its length: 16 is the square


def test_every_expression_has_its_worst_input_and_no_other() -> None:
    assert sorted({expression.key for expression in expressions()} ^ set(WORST)) == []


@pytest.mark.parametrize("expression", expressions(), ids=lambda expression: expression.key)
def test_its_worst_input_takes_time_in_proportion_to_its_length(expression: Expression) -> None:
    pattern = expression.compiled(NAMES.get(expression.key, {}))
    taken = []
    with ended_after(5):
        for size in SIZES:
            before, again, after = WORST[expression.key]
            text: Any = before + again * (size // len(again)) + after
            if isinstance(pattern.pattern, bytes):
                text = text.encode("latin-1")
            taken.append(min(seconds(pattern, text, expression.methods) for _ in range(2)))
            assert taken[-1] < MOST
    assert taken[-1] < GROWTH * taken[1] + 0.01, taken


def seconds(pattern: Any, text: Any, methods: frozenset[str]) -> float:
    """Of the processor, by the ways in which an expression is used; by all where that is not known."""
    start = time.thread_time()
    if methods - {"match", "fullmatch"} or not methods:
        for _ in pattern.finditer(text):
            pass
    if "match" in methods or not methods:
        pattern.match(text)
    if "fullmatch" in methods or not methods:
        pattern.fullmatch(text)
    return time.thread_time() - start


@contextmanager
def ended_after(limit: float) -> Iterator[None]:
    """Fail after so many seconds of the processor: a search asks for signals as it goes on."""

    def end(*_: object) -> None:
        pytest.fail(f"not done after {limit} s")

    before = signal.signal(signal.SIGPROF, end)
    signal.setitimer(signal.ITIMER_PROF, limit)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
