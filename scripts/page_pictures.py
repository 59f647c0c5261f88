"""Take the pictures of the page and of a written match that docs/ shows: python scripts/page_pictures.py

Indexes the example collection into a temporary folder, serves it and drives the system's Chromium.
"""

import io
import socket
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from shutil import which
from typing import Any

import uvicorn
from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

import longmatch as lm
from longmatch.library.library import Library
from longmatch.web.app import create_app

ROOT = Path(__file__).parents[1]
A, B = "the-stream-that-turned.md", "calder-vale-failure-review.docx"
COMPARED = f"#/compare?a={A}&b={B}"
COLOURS = 256  # of a picture: enough for a page, and a third of the size
WIDE, TALL, PHONE = ({"width": w, "height": h} for w, h in ((1280, 900), (1280, 1180), (390, 844)))


@contextmanager
def serving(library: Library) -> Iterator[str]:
    """A server on a free port, until the block ends."""
    listening = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(create_app(library), log_level="warning"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    yield f"http://127.0.0.1:{listening.getsockname()[1]}/"
    server.should_exit = True
    thread.join(10)


def taken(
    browser: Browser, address: str, ready: str, act: Callable[[Page], object] | None = None, **options: Any
) -> Image.Image:
    """One view, once it stands."""
    page = browser.new_page(**({"viewport": WIDE, "reduced_motion": "reduce"} | options))
    page.goto(address)
    page.wait_for_selector(ready)
    if act:
        act(page)
    page.wait_for_timeout(700)  # scrolling far is set right over several frames
    picture = Image.open(io.BytesIO(page.screenshot()))
    page.close()
    return picture.convert("RGB")


def choose_cell(page: Page) -> None:
    """Read two sections side by side."""
    page.locator("tbody tr").nth(2).locator("button").nth(3).click()
    page.mouse.move(2, 2)


def show_matrix(page: Page) -> None:
    """Scroll to the matrix."""
    page.evaluate("document.querySelector('.sections').scrollIntoView()")


def beside(pictures: list[Image.Image]) -> Image.Image:
    """Pictures in a row, on white."""
    gap = 24
    width = sum(picture.width + gap for picture in pictures) - gap
    row = Image.new("RGB", (width, max(picture.height for picture in pictures)), "white")
    left = 0
    for picture in pictures:
        row.paste(picture, (left, 0))
        left += picture.width + gap
    return row


def main() -> None:
    """Take them all."""
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        library = Library(Path(folder) / "examples")
        collection = ROOT / "examples" / "collection"
        library.add(collection)
        match = lm.save(library.compare(A, B), Path(folder) / "match.html")
        chromium = which("chromium-headless-shell") or which("chromium")
        browser = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        with serving(library) as root:
            searched = f"{root}#/search?document={A}"
            phone: dict[str, Any] = {"viewport": PHONE}
            pictures = {
                "match": taken(browser, match.as_uri(), ".panes", viewport=TALL),
                "page-start": taken(browser, root, ".document"),
                "page-search": taken(browser, searched, ".hit"),
                "page-compare": taken(browser, root + COMPARED, ".panes"),
                "page-reading": taken(browser, root + COMPARED, ".panes", choose_cell),
                "page-dark": taken(browser, root + COMPARED, ".panes", choose_cell, color_scheme="dark"),
                "page-sentences": taken(browser, f"{root}{COMPARED}&level=sentences", "canvas", show_matrix),
                "page-within": taken(browser, f"{root}#/within?document={B}", ".panes"),
                "page-map": taken(browser, f"{root}#/map", ".point"),
                "page-phone": beside(
                    [
                        taken(browser, searched, ".hit", **phone),
                        taken(browser, root + COMPARED, ".panes", choose_cell, **phone),
                        taken(browser, f"{root}#/map", ".point", color_scheme="dark", **phone),
                    ]
                ),
            }
        browser.close()
    for name, picture in pictures.items():
        small = picture.quantize(COLOURS, method=Image.Quantize.MAXCOVERAGE, kmeans=4)  # large areas keep their hue
        small.save(ROOT / "docs" / f"{name}.png", optimize=True)


if __name__ == "__main__":
    main()
