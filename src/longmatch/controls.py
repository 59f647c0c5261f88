"""Characters that a terminal takes as commands, or that change the order in which it shows others."""

import re

CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""The control characters but tab and line feed, and the embeddings, overrides and isolates of bidirectional text."""


def without_controls(text: str, instead: str = "") -> str:
    """The text with `instead` for each such character.

    >>> without_controls("all \\x1b[2Jclear\\u202e,\\n\\x9b1mnext")
    'all [2Jclear,\\n1mnext'
    """
    return CONTROLS.sub(instead, text)
