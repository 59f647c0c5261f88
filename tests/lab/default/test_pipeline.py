"""The steps that make the default, from a data folder to files like those of the package."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

from longmatch.default.statistics import FOLDER
from longmatch.errors import LongmatchError
from longmatch.lab.default import pipeline
from longmatch.lab.default.pipeline import STEPS, install_default, train_default
from tests.library.tiny import tiny_matcher

UNINSTALLED = ("typer", "lancedb", "pypdfium2", "sentencex")  # not needed to make the default


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in place of the package."""
    folder = tmp_path / "package"
    folder.mkdir()
    monkeypatch.setattr(pipeline, "TARGETS", {name: folder / name for name in pipeline.TARGETS})
    for name in pipeline.TARGETS:
        (folder / name).write_bytes(b"old")
    return folder


def test_only_what_was_made_is_installed_and_only_if_it_is_small_enough(
    installed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    with pytest.raises(LongmatchError, match="nothing to install"):
        train_default(None, out, install=True)
    (out / "calibration.json").write_text("new")
    install_default(out)
    assert (installed / "calibration.json").read_text() == "new"
    assert (installed / "probability.json").read_bytes() == (installed / "sentences.safetensors").read_bytes() == b"old"
    save_file({"vectors": torch.zeros(64, 8)}, out / "sentences.safetensors")
    monkeypatch.setattr(pipeline, "MOST_BYTES", 100)
    with pytest.raises(LongmatchError, match="at most 100 are allowed"):
        train_default(None, out, install=True)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"steps": "weigh"}, "There is no step weigh. Name one of background"),
        ({"steps": "features"}, "Name --data"),
        ({"steps": "weights"}, "holds no lists of training queries"),
        ({"steps": "calibration"}, "holds no training pairs"),
        ({"steps": "report"}, "holds nothing to report on"),
        ({"steps": "report", "sides": "words,colour"}, "There is no side colour"),
        ({"steps": "report", "query": 3}, "There is no setting query. Did you mean queries"),
    ],
)
def test_a_mistake_is_one_sentence(tmp_path: Path, options: dict[str, str], sentence: str) -> None:
    with pytest.raises(LongmatchError, match=sentence):
        train_default(None, tmp_path / "out", **options)


def test_from_a_data_folder_to_a_report_nothing_reaches_the_package_unasked(
    make_data: Callable[..., Path], tiny_bert: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, installed: Path
) -> None:
    labels = [
        (split, a, b, label)
        for split in ("train", "validation", "test")
        for a, b, label in (("boats", "ships", 1), ("boats", "bread", 0), ("bread", "cakes", 1), ("stars", "cakes", 0))
    ]
    qrels = [(s, a, b, 1) for s, a, b, label in labels if label]
    data = make_data(pairs=labels, qrels=qrels)
    make_data(name="other", qrels=qrels)  # a set of queries alone
    lacking: list[str | None] = []
    monkeypatch.setattr(pipeline, "matcher_of", lambda _, name: lacking.append(name) or tiny_matcher(tiny_bert))
    out = tmp_path / "out"
    train_default(data.parent, out, ",".join(STEPS[1:]), f"{data.name},other", queries=1)
    assert set(lacking) == {data.name, "other", None}  # each set is seen without its kind of text, and with it
    assert {path.name for path in out.iterdir() if path.is_file()} >= {
        "weights.json",
        "calibration.json",
        "probability.json",
        "unrelated.json",
        "report.txt",
        f"{data.name}-train.npz",
        f"{data.name}-test-pairs.npz",
        "other-test-pairs.npz",
    }
    facts = json.loads((FOLDER / "calibration.json").read_text())
    assert json.loads((out / "calibration.json").read_text()).keys() == facts.keys()
    assert (installed / "calibration.json").read_text() == "old"
    train_default(None, out, install=True)
    for name in ("calibration.json", "probability.json", "unrelated.json"):
        assert (installed / name).read_bytes() == (out / name).read_bytes()


def test_it_starts_without_what_only_the_product_needs() -> None:
    blocked = f"import sys; sys.modules |= dict.fromkeys({UNINSTALLED!r}); sys.argv = ['default', '--help']; "
    code = blocked + "import runpy; runpy.run_module('longmatch.lab.default', run_name='__main__')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "--install" in done.stdout
