"""Document text made safe for a terminal."""

import re

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]+")


def printable(text: str) -> str:
    """The text on one line, without the characters a terminal would take as commands.

    >>> printable("all clear \\x1b[2J, next\\nline")
    'all clear [2J, next line'
    """
    return " ".join(_CONTROL.sub(" ", text).split())
