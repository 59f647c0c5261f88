"""How many examples a property is tried on: few in a quick run; EXAMPLES_TIMES=5 tries five times as many as named."""

import os

TIMES = float(os.environ.get("EXAMPLES_TIMES", "0.4"))


def tried(count: int) -> int:
    """The number of examples in this run; at least one."""
    return max(1, round(count * TIMES))
