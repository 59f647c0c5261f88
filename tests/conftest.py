"""What many tests share: the packaged model, the example collection, and tiny real models saved as folders."""

import os

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # before torch loads: its threads must not spin
if "PYTEST_XDIST_WORKER" in os.environ:
    for library in ("OMP", "OPENBLAS"):  # one core for each process of the test run
        os.environ.setdefault(f"{library}_NUM_THREADS", "1")

import atexit
import gc
import json
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import hypothesis
import pytest

from longmatch.default.encoding import Encoding
from longmatch.default.matcher import HybridMatcher
from longmatch.documents import Document, read_all
from longmatch.encoders import pretrained
from longmatch.encoders.backbone import Backbone
from tests.browser import lacking
from tests.effort import tried
from tests.scheduling import LongestFirst, turn
from tests.tiny_models import save_bert, save_roberta, save_sentence_model

BUSY = {"deadline": None, "suppress_health_check": [hypothesis.HealthCheck.too_slow]}  # how long it takes is no fact
BUSY |= {"max_examples": tried(50)}
hypothesis.settings.register_profile("here", **BUSY)  # new examples are tried at every run
hypothesis.settings.register_profile("ci", derandomize=True, **BUSY)
hypothesis.settings.load_profile("ci" if os.environ.get("CI") else "here")

EXAMPLES = Path(__file__).parents[1] / "examples"

if "PYTEST_XDIST_WORKER" not in os.environ:  # all processes of a test run share a cache, which is not the user's
    os.environ["XDG_CACHE_HOME"] = tempfile.mkdtemp(prefix="longmatch-tests-")
    atexit.register(shutil.rmtree, os.environ["XDG_CACHE_HOME"], ignore_errors=True)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: turn(item.nodeid))


def pytest_collection_finish() -> None:
    gc.collect()
    gc.freeze()  # 800,000 objects of imported packages, through which every collection would go again


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> LongestFirst | None:
    return LongestFirst(config, log) if config.getvalue("dist") == "loadfile" else None


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if missing := " and no ".join(lacking()):
        terminalreporter.write_line(f"No {missing} here: the tests in a browser were not collected.", yellow=True)


@pytest.fixture(scope="session")
def backbone() -> Backbone:
    """The packaged model in float32, whatever the machine prefers."""
    return Backbone.load(precision="float32")


@pytest.fixture
def no_default_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The packaged model is neither installed nor in the cache, and cannot be fetched."""
    monkeypatch.setattr(pretrained, "find_spec", lambda name: None)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "empty-cache"))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    pretrained.default_folder.cache_clear()
    yield
    pretrained.default_folder.cache_clear()


@pytest.fixture(scope="session")
def run_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that all processes of this test run share."""
    own = tmp_path_factory.getbasetemp()
    return own.parent if "PYTEST_XDIST_WORKER" in os.environ else own


@pytest.fixture(scope="session")
def matcher() -> HybridMatcher:
    """The default matcher, as a user gets it."""
    return HybridMatcher()


@pytest.fixture(scope="session")
def examples() -> dict[str, Document]:
    """The documents of the example collection by file name."""
    unreadable: list[Exception] = []
    found = {document.id: document for document in read_all([EXAMPLES / "collection"], unreadable.append)}
    assert not unreadable
    return found


@pytest.fixture(scope="session")
def answer_key() -> dict[str, dict]:
    """For each file of the example collection its group and near misses."""
    return {row["file"]: row for row in json.loads((EXAMPLES / "answer-key.json").read_text(encoding="utf-8"))}


@pytest.fixture(scope="session")
def encodings(matcher: HybridMatcher, examples: dict[str, Document]) -> dict[str, Encoding]:
    """The example collection, encoded once."""
    return dict(zip(examples, matcher.encode(list(examples.values())), strict=True))


@pytest.fixture(scope="session")
def tiny_bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A random BERT of two layers with a WordPiece vocabulary, as a Hugging Face folder."""
    return save_bert(tmp_path_factory.mktemp("bert"))


@pytest.fixture(scope="session")
def tiny_roberta(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A random RoBERTa of two layers with byte-level BPE, as a Hugging Face folder."""
    return save_roberta(tmp_path_factory.mktemp("roberta"))


@pytest.fixture
def sentence_model(tmp_path: Path) -> Callable[..., Path]:
    """Saves a tiny BERT as a sentence-transformers folder with the pooling asked for."""
    return lambda **pooling: save_sentence_model(tmp_path / "sentence-model", **pooling)
