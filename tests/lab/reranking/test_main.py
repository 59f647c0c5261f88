"""The commands, from data folders to the study's table."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from longmatch.errors import LongmatchError
from longmatch.lab.encoders.tokenizer import open_tokenizer
from longmatch.lab.reranking import rerankers
from longmatch.lab.reranking.__main__ import main
from longmatch.lab.reranking.candidates import CandidateLists
from tests.lab.baselines.cross.tiny_cross import tiny_cross
from tests.lab.evaluation.conftest import TEXTS

Make = Callable[..., Path]
ANSWERS = (("boats", "ships"), ("bread", "cakes"))
QRELS = [(split, *pair, 1) for split in ("train", "validation", "test") for pair in ANSWERS]


@pytest.fixture
def data(make_data: Make) -> Path:
    """Two sets of five documents."""
    for name in ("one", "two"):
        folder = make_data(TEXTS, name, qrels=QRELS)
    return folder.parent


@pytest.fixture
def trained(tiny_bert: Path, tmp_path: Path) -> Path:
    """A tiny cross-encoder, as `longmatch train` writes it."""
    folder = tmp_path / "trained"
    tiny_cross(tiny_bert).save_pretrained(folder)
    open_tokenizer(str(tiny_bert)).save_pretrained(folder)
    (folder / "longmatch.json").write_text(json.dumps({"model": "cross"}))
    return folder


@pytest.mark.filterwarnings("ignore::longmatch.errors.LongmatchWarning")  # its openings are short
def test_lists_are_made_read_by_models_and_studied(
    data: Path, trained: Path, tmp_path: Path, capsys, monkeypatch
) -> None:
    monkeypatch.setattr(rerankers, "TREES", 2)
    out, sets, alone = str(tmp_path / "out"), ["one", "two"], ["--processes", "1"]
    main(["lists", str(data), out, "--sets", *sets, *alone])
    names = [f"{name}-{split}.npz" for name in sets for split in ("train", "validation", "test")]
    assert {path.name for path in Path(out).glob("*.npz")} == set(names)
    lists = CandidateLists.read(Path(out, "one-test.npz"))
    assert np.diff(lists.offsets).tolist() == [4, 4]
    assert lists.grades[lists.places == 0].tolist() == [1, 1]

    main(["score", str(data), out, "--model", f"tiny={trained}", "--sets", "one", "--depth", "2", *alone])
    scores = np.load(Path(out, "scores", "tiny", "one-test.npy"))
    assert np.isfinite(scores).tolist() == [True, True, False, False] * 2

    settings = [f"--set={each}" for each in ("steps=1", "queries=2", "validations=1", "head_learning_rate=0.1")]
    reading = ["--read", "test", "validation"]
    names = ["--train-on", "one", "--test-on", "two"]
    main(["network", str(data), out, "--label", "net", *names, *reading, *settings, *alone])
    assert Path(out, "networks", "net.safetensors").exists()
    added = np.load(Path(out, "scores", "added-net", "two-test.npy"))
    assert added.shape == (8,)
    assert Path(out, "scores", "added-net", "two-validation.npy").exists()

    capsys.readouterr()
    main(["study", out, "--depths", "2", "4"])
    first, second = capsys.readouterr().out.strip().split("\n\n")
    assert first.startswith("| best 2 | one | two |") and second.startswith("| best 4 | one | two |")
    assert "| default | 100.0 | 100.0 |" in first
    rows = {line.split("|")[1].strip(): line for line in second.splitlines()}
    assert rows["tiny alone"].endswith("|  |")  # of the set `one` alone
    assert rows["net alone"].startswith("| net alone |  |")

    main(["study", out, "--depths", "4", "--split", "validation"])
    of_validation = capsys.readouterr().out
    assert "net alone" in of_validation and "tiny alone" not in of_validation


def test_a_model_that_does_not_read_two_documents_together_is_refused(data: Path, tmp_path: Path) -> None:
    with pytest.raises(LongmatchError, match="no model that reads the tokens of two documents together"):
        main(["score", str(data), str(tmp_path / "out"), "--model", "words=bm25", "--sets", "one"])
