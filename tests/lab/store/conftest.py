"""The two kinds of tokenizer, as for the units."""

from tests.units.conftest import tokenizer, wordpiece

__all__ = ["tokenizer", "wordpiece"]
