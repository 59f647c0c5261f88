"""Which tests a process of the test run takes together, and in which order: what takes long is begun first."""

from typing import Any

from xdist.scheduler import LoadScopeScheduling

TOGETHER = ("tests/distributed",)
"""Folders whose files share what takes long to make."""

APART = ("tests/safety/test_safety.py",)
"""Files whose tests take minutes each and share nothing."""

FIRST = (
    *APART,
    "tests/distributed",
    "tests/default/test_compare.py",  # reads the example collection, which others then need not
    "tests/cli/test_options.py",
    "tests/lab/training/test_processes.py",
    "tests/lab/training/test_killed.py",
    "tests/library/test_killed.py",
    "tests/docs/test_notebooks.py",
    "tests/lab/papers",
    "tests/lab/baselines",
    "tests/encoders/test_engines.py",
    "tests/web/page",
)
"""Measured with `pytest --durations=50`. The rest is taken as it comes."""


def scope(nodeid: str) -> str:
    """The file, or the folder, that a test is taken with; or the test alone."""
    file = nodeid.split("::", 1)[0]
    if file in APART:
        return nodeid
    return next((folder for folder in TOGETHER if file.startswith(f"{folder}/")), file)


def turn(nodeid: str) -> int:
    """Of the part of the suite a test belongs to."""
    return next((n for n, part in enumerate(FIRST) if nodeid.startswith(part)), len(FIRST))


class LongestFirst(LoadScopeScheduling):
    """`--dist loadfile` with these rules."""

    def __init__(self, config: Any, log: Any) -> None:
        super().__init__(config, log)
        config.option.loadscopereorder = False

    def _split_scope(self, nodeid: str) -> str:
        return scope(nodeid)
