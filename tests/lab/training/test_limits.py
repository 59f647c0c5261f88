"""Numbers that a setting may not be are refused by name."""

from types import SimpleNamespace

import pytest

from longmatch.errors import LongmatchError
from longmatch.lab.training.limits import above_zero, at_least


def test_the_least_value_itself_and_what_is_left_open_or_unknown_pass():
    at_least(SimpleNamespace(heads=1, width=None), heads=1, width=2, layers=3)


@pytest.mark.parametrize("value", [0, -1, float("nan")])
def test_less_or_no_number_is_one_sentence(value):
    with pytest.raises(LongmatchError) as said:
        at_least(SimpleNamespace(heads=value), heads=1)
    assert str(said.value) == f"The setting heads is {value}; it must be 1 or more."
    with pytest.raises(LongmatchError) as said:
        above_zero(SimpleNamespace(scale=1e-9, bias=value), "scale", "bias")
    assert str(said.value) == f"The setting bias is {value}; it must be above 0."
