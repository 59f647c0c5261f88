"""Whether the tests in a browser can run here."""

from importlib.util import find_spec
from shutil import which


def lacking() -> list[str]:
    """What they need and is not here."""
    needed = {"Chromium": which("chromium"), "playwright": find_spec("playwright")}
    return [name for name, found in needed.items() if not found]
