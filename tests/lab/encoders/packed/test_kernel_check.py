"""A kernel that does not work here is left out, and said to be."""

import warnings

import pytest

from longmatch.errors import LongmatchWarning
from longmatch.lab.encoders.packed.kernel_check import works


def test_a_kernel_that_is_near_is_used_without_a_word():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert works("short", lambda: 0.001)


def test_a_kernel_that_is_off_is_left_out_with_a_warning():
    with pytest.warns(LongmatchWarning, match="short kernel is not used .it is off by 0.500"):
        assert not works("short", lambda: 0.5)


def test_a_kernel_that_fails_is_left_out_with_a_warning():
    def fails() -> float:
        raise RuntimeError("no such unit\nand more")

    with pytest.warns(LongmatchWarning, match=r"RuntimeError: no such unit\)"):
        assert not works("layer", fails)
