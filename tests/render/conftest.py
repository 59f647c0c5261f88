"""The browser's tests are collected where there is a browser to drive."""

import pytest

from longmatch.matching.match import Match
from tests.browser import lacking
from tests.render.render_matches import example_pair

collect_ignore_glob = ["test_render_*browser.py"] if lacking() else []


@pytest.fixture(scope="session")
def pair() -> Match:
    return example_pair()
