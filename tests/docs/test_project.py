"""The files around the code agree with it."""

import re
import tomllib

import pytest
import yaml

import longmatch
from tests.docs.pages import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
YAML = [*(ROOT / ".github").rglob("*.yml"), ROOT / ".pre-commit-config.yaml", ROOT / "CITATION.cff"]


def test_there_is_one_version():
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))["version"]
    newest = re.search(r"^## (\d\S+)$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert newest and {longmatch.__version__, PROJECT["version"], cited} == {newest[1]}


@pytest.mark.parametrize("path", YAML, ids=lambda path: path.name)
def test_settings_of_other_tools_are_valid_yaml(path):
    assert isinstance(yaml.safe_load(path.read_text(encoding="utf-8")), dict)


def test_every_python_that_is_named_is_tested():
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "test.yml").read_text(encoding="utf-8"))
    named = [line.rsplit(" ", 1)[1] for line in PROJECT["classifiers"] if re.search(r":: 3\.\d+$", line)]
    assert workflow["jobs"]["quick"]["strategy"]["matrix"]["python"] == named
    assert PROJECT["requires-python"] == f">={named[0]}"


def test_the_readme_fits_on_a_few_screens():
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) < 100
    assert len((ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8").splitlines()) < 200
