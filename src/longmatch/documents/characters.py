"""Halves of characters (surrogates): broken JSON and undecodable file names have them, and nothing can store them."""

import re
from collections.abc import Mapping
from typing import Any

_HALVES = re.compile("[\ud800-\udfff]")


def has_halves(text: str) -> bool:
    """Whether some character is half of one.

    >>> has_halves("rain"), has_halves("rain \\ud83d")
    (False, True)
    """
    return _HALVES.search(text) is not None


def whole(text: str) -> str:
    """The text with the replacement character for each half.

    >>> whole("rain \\ud83d") == "rain \\N{REPLACEMENT CHARACTER}"
    True
    """
    return _HALVES.sub("\N{REPLACEMENT CHARACTER}", text)


def whole_values(value: Any) -> Any:
    """JSON with every string made whole.

    >>> whole_values({"tags": ["rain\\ud83d", 1]}) == {"tags": ["rain\\N{REPLACEMENT CHARACTER}", 1]}
    True
    """
    if isinstance(value, str):
        return whole(value)
    if isinstance(value, Mapping):
        return {whole_values(key): whole_values(item) for key, item in value.items()}
    return [whole_values(item) for item in value] if isinstance(value, list | tuple) else value
