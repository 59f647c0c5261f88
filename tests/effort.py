"""How many examples a property is tried on: EXAMPLES_TIMES=20 tries twenty times as many."""

import os

TIMES = int(os.environ.get("EXAMPLES_TIMES", "1"))


def tried(count: int) -> int:
    """So many, or that many times more."""
    return count * TIMES
