"""A tiny matcher, and libraries made with it."""

from collections.abc import Callable
from pathlib import Path

import pytest

from longmatch.default.matcher import HybridMatcher
from longmatch.library.library import Library
from tests.conftest import EXAMPLES
from tests.library.tiny import tiny_matcher, write_texts


@pytest.fixture(scope="session")
def tiny(tiny_bert: Path) -> HybridMatcher:
    return tiny_matcher(tiny_bert)


@pytest.fixture(scope="session")
def example_library(tmp_path_factory: pytest.TempPathFactory, matcher: HybridMatcher) -> Library:
    """The example collection, not to be changed."""
    made = Library(tmp_path_factory.mktemp("examples") / "library", matcher)
    made.add(EXAMPLES / "collection")
    return made


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    """A folder of eight files."""
    return write_texts(tmp_path / "texts", range(8))


@pytest.fixture
def library(tmp_path: Path, tiny: HybridMatcher) -> Library:
    """An empty library."""
    return Library(tmp_path / "library", tiny)


@pytest.fixture
def opened(tmp_path: Path, tiny: HybridMatcher) -> Callable[[], Library]:
    """Opens the library anew, as another process would."""
    return lambda: Library(tmp_path / "library", tiny, create=False)
