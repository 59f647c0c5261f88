"""What is recorded of how a row was made."""

import os
import subprocess
from pathlib import Path

import torch
from safetensors.torch import save_file

from longmatch.encoders.backbone import Backbone
from longmatch.lab.evaluation.provenance import commit_of, package_digest, provenance, rounded
from longmatch.models.loading import load


def git(folder: Path, *words: str) -> str:
    nobody = {"GIT_AUTHOR_NAME": "n", "GIT_AUTHOR_EMAIL": "e", "GIT_COMMITTER_NAME": "n", "GIT_COMMITTER_EMAIL": "e"}
    found = subprocess.run(
        ["git", *words], cwd=folder, env=os.environ | nobody, capture_output=True, text=True, check=True
    )
    return found.stdout.strip()


def test_the_commit_of_code_copied_without_its_history_is_found_again(tmp_path: Path) -> None:
    package, copy = tmp_path / "repository" / "package", tmp_path / "copy"
    for folder in (package / "inner", copy / "inner"):
        folder.mkdir(parents=True)
        (folder / "code.py").write_text("x = 1\n", encoding="utf-8")
    git(package.parent, "init", "-q")
    for text in ("x = 0\n", "x = 1\n", "x = 2\n"):
        (package / "inner" / "code.py").write_text(text, encoding="utf-8")
        git(package.parent, "add", ".")
        git(package.parent, "commit", "-q", "-m", text)
    assert commit_of(package_digest(copy), package) == git(package, "rev-parse", "--short=12", "HEAD~1")
    (copy / "inner" / "code.py").write_text("x = 3\n", encoding="utf-8")
    assert commit_of(package_digest.__wrapped__(copy), package) is None


def test_rounded_weights_are_known_whatever_type_they_are_stored_in(tmp_path: Path) -> None:
    weights = torch.randn(4, 4, generator=torch.Generator().manual_seed(0))
    kinds = {"exact": weights, "float16": weights.half().float(), "bfloat16": weights.bfloat16().float()}
    for name, tensor in kinds.items():
        save_file({"weights": tensor}, tmp_path / name)
    assert [rounded(tmp_path / name) for name in kinds] == [None, "float16", "bfloat16"]


def test_a_row_records_command_code_machine_versions_and_weights(tiny_bert: Path) -> None:
    backbone = Backbone.load(str(tiny_bert), precision="float32")
    found = provenance("longmatch evaluate", load("sdr", backbone))
    assert found["command"] == "longmatch evaluate"
    assert found["code"] == package_digest()
    assert torch.__version__.startswith(found["versions"]["torch"].partition("+")[0])
    assert found["weights"]["name"] == tiny_bert.name
    assert (found["weights"]["precision"], found["weights"]["rounded"]) == ("float32", None)
    assert provenance("longmatch evaluate", load("tfidf"))["weights"] is None
