"""A library of coined words, indexed once and adapted once; tests work on copies."""

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from longmatch.default.matcher import HybridMatcher
from longmatch.lab.adapting import learning
from longmatch.lab.adapting.adapt import OnStage, adapt
from longmatch.library.library import Library
from tests.lab.adapting.stems import write_coined
from tests.library.tiny import tiny_matcher

DOCUMENTS, STEPS = 42, 16
Copy = Callable[[Path], Library]


def interrupt_at(stage: str) -> OnStage:
    """Stops when a stage is reported."""

    def report(what: str, done: int, of_all: int) -> None:
        if what == stage:
            raise KeyboardInterrupt

    return report


@pytest.fixture(scope="session", autouse=True)
def brisk() -> None:
    """A tiny network learns fast."""
    learning.PACE = replace(learning.PACE, learning_rate=2e-2)
    learning.SHAPE = replace(learning.SHAPE, anchors=16)


@pytest.fixture(scope="session")
def tiny(tiny_bert: Path) -> HybridMatcher:
    return tiny_matcher(tiny_bert)


@pytest.fixture(scope="session")
def plain(tiny: HybridMatcher, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A library as `index` leaves it."""
    folder = tmp_path_factory.mktemp("coined")
    Library(folder / "library", tiny).add(write_coined(folder / "texts", DOCUMENTS))
    return folder / "library"


@pytest.fixture(scope="session")
def halfway(tiny: HybridMatcher, plain: Path) -> Path:
    """The same; what was learnt is proven, and its adopting was interrupted when all documents were encoded again."""
    folder = plain.with_name("halfway")
    shutil.copytree(plain, folder)
    with pytest.raises(KeyboardInterrupt):
        adapt(Library(folder, tiny), steps=STEPS, progress=interrupt_at("encoding again"))
    return folder


@pytest.fixture(scope="session")
def adapted(tiny: HybridMatcher, halfway: Path) -> Path:
    """The same, adapted."""
    folder = halfway.with_name("adapted")
    shutil.copytree(halfway, folder)
    assert adapt(Library(folder, tiny)).adopted
    return folder


@pytest.fixture
def copied(tiny: HybridMatcher, tmp_path: Path) -> Copy:
    """Opens a copy of a library."""

    def copy(folder: Path) -> Library:
        shutil.copytree(folder, tmp_path / "library")
        return Library(tmp_path / "library", tiny, create=False)

    return copy
