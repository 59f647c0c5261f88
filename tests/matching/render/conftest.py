"""The browser's tests are collected where there is a browser to drive."""

from importlib.util import find_spec
from shutil import which

import pytest
from render_matches import example_pair

from longmatch.matching.match import Match

BROWSER = ["test_render_browser.py", "test_render_subtopics_browser.py"]
collect_ignore = [] if which("chromium") and find_spec("playwright") else BROWSER


@pytest.fixture(scope="session")
def pair() -> Match:
    return example_pair()
