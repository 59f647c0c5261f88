"""A model is declared once; one of another package, found by its entry point, stands wherever ours do."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from longmatch.addresses import resolve
from longmatch.errors import LongmatchError
from longmatch.models.registry import find_model, models, names_of

ROOT = Path(__file__).parents[2]
DECLARED = """
from longmatch.models.declaration import Model

WHALE = Model(
    name="whale",
    label="Whale",
    summary="Words, by whales.",
    rule="whales:whale_matcher",
    place="",
    recipe="tests.lab.training.tiny_recipe:TinyRecipe",
)
ALL = (WHALE, Model(name="sdr", label="Not the one of this name", rule="whales:nothing"))
"""
MATCHER = """
from longmatch.lexical.matcher import LexicalMatcher

def whale_matcher():
    return LexicalMatcher("whale")
"""
USED = """
import sys, warnings
from pathlib import Path
from typer.testing import CliRunner

warnings.simplefilter("ignore")
import longmatch
from longmatch.cli.app import app
from longmatch.web.state import OFFERED

def run(*words):
    done = CliRunner().invoke(app, [str(word) for word in words])
    assert done.exit_code == 0, (words, done.output, done.exception)
    return done.output

folder = Path(sys.argv[1])
assert longmatch.load("whale").name == "whale" and "whale" in OFFERED
assert type(longmatch.load("sdr")).__name__ == "SdrMatcher"
assert '"model": "whale"' in run("rank", folder / "a.txt", folder, "--model", "whale", "--json")
assert "whale" in run("rank", "--help") and "whale" in run("train", "--help")
assert "whale" in run("evaluate", "--data", folder, "--models", "whale", "--measures", "MRR", "--out", folder / "rows")
run("train", "whale", "--data", folder / "numbers.json", "--out", folder / "whale", "--set", "steps=2")
assert (folder / "whale" / "longmatch.json").is_file()
print("all of it")
"""


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """A folder that holds a package of another, as pip leaves it."""
    info = tmp_path / "site" / "whales-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: whales\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[longmatch.models]\nwhales = whale_models:ALL\nbroken = no_such_module:X\n")
    (info.parent / "whale_models.py").write_text(DECLARED)
    (info.parent / "whales.py").write_text(MATCHER)
    return info.parent


def run_with(installed: Path, code: str, *words: str) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join([str(installed), str(ROOT / "src"), str(ROOT)])
    settings = {**os.environ, "PYTHONPATH": path, "COLUMNS": "200"}
    return subprocess.run(
        [sys.executable, "-c", code, *words], env=settings, capture_output=True, text=True, check=False
    )


def test_a_model_of_another_package_ranks_evaluates_trains_and_is_listed(installed, tmp_path):
    texts = {"a": "Ferries cross the strait.", "b": "A ferry crosses the strait.", "c": "Bread needs flour."}
    folder = tmp_path / "set"
    folder.mkdir()
    (folder / "documents.jsonl").write_text("".join(json.dumps({"id": k, "text": v}) + "\n" for k, v in texts.items()))
    (folder / "qrels.tsv").write_text("split\tquery\tdocument\tgrade\ntest\ta\tb\t1\n")
    (folder / "numbers.json").write_text("[1.0, -2.0, 0.5, 3.0]")
    for id, text in texts.items():
        (folder / f"{id}.txt").write_text(text)
    done = run_with(installed, USED, str(folder))
    assert done.stdout.endswith("all of it\n"), done.stdout + done.stderr


def test_what_another_package_declares_badly_is_said_and_the_rest_still_opens(installed):
    code = "from longmatch.models.registry import models; print('whale' in models(), models()['sdr'].label)"
    done = run_with(installed, code)
    assert done.stdout == "True SDR\n"
    assert "There are two models sdr; the first one is used." in done.stderr
    assert "The models of whales (no_such_module:X) cannot be read" in done.stderr


@pytest.mark.parametrize("model", models().values(), ids=lambda model: model.name)
def test_every_address_of_a_declaration_opens(model):
    addresses = [model.rule, model.network, model.recipe, model.scorer]
    assert all(callable(resolve(address)) for address in addresses if address) and any(addresses)


def test_what_is_declared_of_a_model_is_true_of_its_class():
    from longmatch.matching.matcher import PairMatcher

    for model in models().values():
        made = resolve(model.network or model.rule) if model.network or model.rule else None
        if isinstance(made, type):
            assert issubclass(made, PairMatcher) == model.reads_pairs, model.name


def test_the_lists_that_people_choose_from():
    assert names_of("summary") == ["default", "sdr", "tfidf", "phrases", "bm25", "mean"]
    assert "sst-clusters" in names_of("recipe") and "sdr-plain" not in names_of("recipe")


def test_an_unknown_model_is_refused_with_the_names_there_are():
    with pytest.raises(LongmatchError, match=r"There is no model whale\. Name one of default, sdr"):
        find_model("whale")
