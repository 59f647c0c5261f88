"""One server over the example collection for all tests of the page, and a browser for each file of them."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from longmatch.default.matcher import HybridMatcher
from longmatch.library.library import Library
from tests.browser import chromium, lacking
from tests.web.conftest import real_server

EXAMPLES = Path(__file__).parents[3] / "examples" / "collection"
A, B = "the-stream-that-turned.md", "calder-vale-failure-review.docx"  # two that belong together
EVIL = "<script>window.ran=1;alert(1)</script><img src=x onerror=alert(2)>"
HOSTILE = {
    "id": "hostile",
    "title": f"Hostile {EVIL}",
    "sections": [
        {"heading": f"Heading {EVIL}", "text": f"The kettle {EVIL} boiled at four. Tea was poured for two."},
        {"heading": "</script><style>*{display:none}</style>", "text": "The cups were washed, and the tea was cold."},
    ],
}

READY = "() => !document.querySelector('.working, .skeleton') && document.querySelector('#view').children.length > 0"
AT_REST = """() => new Promise(done => {
  const places = () => [scrollY, ...[...document.querySelectorAll('.pane')].map(pane => pane.scrollTop)].join();
  let last = places(), still = 0;
  const look = () => {
    still = places() === last ? still + 1 : 0;
    last = places();
    still < 15 ? requestAnimationFrame(look) : done();
  };
  requestAnimationFrame(look);
})"""

collect_ignore_glob = ["test_page_*_browser.py"] if lacking() else []


@pytest.fixture(scope="session")
def examples_library(tmp_path_factory: pytest.TempPathFactory, matcher: HybridMatcher) -> Library:
    """The example collection, and a document that means harm."""
    place = tmp_path_factory.mktemp("page")
    (place / "hostile.jsonl").write_text(json.dumps(HOSTILE), encoding="utf-8")
    library = Library(place / "examples", matcher)
    library.add([EXAMPLES, place / "hostile.jsonl"])
    return library


@pytest.fixture(scope="session")
def server(examples_library: Library) -> Iterator[httpx.Client]:
    with real_server(examples_library) as client:
        yield client


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A browser for each file of tests."""
    with chromium() as opened:
        yield opened


class Visit:
    """A window on the page of one server; it notes everything that is said or asked on the way."""

    def __init__(self, browser: Any, root: str, **options: Any) -> None:
        width, height = options.pop("width", 1280), options.pop("height", 900)
        settings = {"viewport": {"width": width, "height": height}, "reduced_motion": "reduce"} | options
        self.page = browser.new_page(**settings)
        self.page.set_default_timeout(60_000)
        self.root, self.problems, self.missing = root, [], []
        self.page.on("console", lambda message: self._said(message.text))
        self.page.on("pageerror", lambda error: self.problems.append(str(error)))
        self.page.on("dialog", lambda dialog: (self.problems.append(f"dialog {dialog.message}"), dialog.dismiss()))
        self.page.on("request", lambda request: self._asked(request.url))

    def _said(self, text: str) -> None:
        (self.missing if text.startswith("Failed to load resource") else self.problems).append(text)

    def _asked(self, url: str) -> None:
        if not url.startswith((self.root, "blob:", "about:")):
            self.problems.append(f"asked for {url}")

    def open(self, address: str = "") -> Any:
        """Go to an address of the page and wait until it stands."""
        self.page.goto("about:blank")
        self.page.goto(f"{self.root}{address}")
        return self.wait()

    def wait(self) -> Any:
        self.page.wait_for_function(READY)
        return self.page

    def rest(self) -> None:
        self.page.evaluate(AT_REST)


@pytest.fixture
def visit(browser: Any, server: httpx.Client) -> Iterator[Callable[..., Visit]]:
    """Opens windows; at the end nothing may have gone wrong in them that the test does not expect."""
    visits: list[Visit] = []

    def begin(root: str | None = None, **options: Any) -> Visit:
        visits.append(Visit(browser, root or root_of(server), **options))
        return visits[-1]

    yield begin
    for each in visits:
        each.page.close()
        assert each.problems == []


def root_of(server: httpx.Client) -> str:
    """Where the page of a server is."""
    return f"{server.base_url.scheme}://{server.base_url.host}:{server.base_url.port}/"
