"""The browser that tests open pages in, and whether it is here."""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from shutil import which
from typing import Any

FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic"]


def executable() -> str | None:
    """Chromium without its windows where that is installed: the same engine, for less processor time."""
    return which("chromium-headless-shell") or which("chromium")


def lacking() -> list[str]:
    """What tests in a browser need and is not here."""
    needed = {"Chromium": executable(), "playwright": find_spec("playwright")}
    return [name for name, found in needed.items() if not found]


@contextmanager
def chromium() -> Iterator[Any]:
    """A browser; while it is open, nothing else of the process can run an event loop."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=executable(), args=FLAGS)
        yield browser
        browser.close()
