"""Document text made safe for a terminal."""

from longmatch.controls import without_controls


def printable(text: str) -> str:
    """The text on one line, without the characters a terminal would take as commands.

    >>> printable("all clear \\x1b[2J, next\\nline")
    'all clear [2J, next line'
    """
    return " ".join(without_controls(text, " ").split())
