"""Fixtures shared with the tests of units."""

from tests.units.conftest import wordpiece

__all__ = ["wordpiece"]
