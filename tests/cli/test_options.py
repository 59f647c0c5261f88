"""`--ray`, and many queries at once, as the user runs them."""

import json
import sys
from importlib.util import find_spec

import pytest

from longmatch.cli.options import WithRay
from longmatch.distributed import cluster


def lines(ran):
    assert ran.code == 0, ran.err
    return [json.loads(line) for line in ran.out.splitlines()]


def test_each_document_of_a_folder_is_ranked_on_a_line_of_its_own(longmatch, folder):
    found = lines(longmatch("rank", folder, folder, "--each", "-k", 2))
    assert [row["query"]["id"] for row in found] == sorted(path.name for path in folder.iterdir() if path.suffix)
    for row in found:
        alone = longmatch("rank", row["query"]["id"], folder, "-k", 2, "--json").json["hits"]
        assert [hit["id"] for hit in row["hits"]] == [hit["id"] for hit in alone]
        assert row["query"]["id"] not in [hit["id"] for hit in row["hits"]]


def test_the_documents_of_a_json_lines_file_are_asked_too(longmatch, folder, tmp_path):
    rows = [{"id": "a", "text": "The bank failed."}, {"id": "b", "text": "Snow fell on the hills."}]
    (tmp_path / "asked.jsonl").write_text("\n".join(map(json.dumps, rows)))
    found = lines(longmatch("rank", tmp_path / "asked.jsonl", folder, "--each", "-k", 1))
    assert [(row["query"]["id"], row["hits"][0]["id"]) for row in found][1] == ("b", "snow.txt")


@pytest.mark.parametrize(
    ("options", "word"),
    [(("--ray",), "--each"), (("--each", "--rerank", "tfidf"), "--rerank"), (("--each", "-m", "bm25"), "library")],
)
def test_what_does_not_go_together_is_said(longmatch, folder, options, word):
    assert word in longmatch("rank", folder / "bank.md", folder, *options).complaint


def test_without_ray_one_sentence_says_how_to_get_it(longmatch, folder, tmp_path, monkeypatch):
    monkeypatch.setattr(cluster, "find_spec", lambda name: None if name == "ray" else find_spec(name))
    said = longmatch("index", tmp_path / "library", folder, "--ray").complaint
    assert said == "Running on several machines needs Ray. Install it: pip install 'longmatch[ray]'."


def test_an_address_where_no_cluster_is_is_named(longmatch, folder, tmp_path, monkeypatch):
    monkeypatch.setenv("RAY_gcs_rpc_server_connect_timeout_s", "1")
    said = longmatch("index", tmp_path / "library", folder, "--ray", "nonsense").complaint
    assert "No Ray cluster was found at nonsense" in said


@pytest.mark.slow
def test_a_cluster_started_for_the_run_makes_the_library(longmatch, folder, tmp_path):
    done = longmatch("index", tmp_path / "library", folder, "--json", "--ray", "local", "--workers", 1).json
    assert done["added"] == sorted(path.name for path in folder.iterdir())
    ours, theirs = (longmatch("rank", "bank.md", place, "--json").json for place in (tmp_path / "library", folder))
    assert [hit["id"] for hit in ours["hits"]] == [hit["id"] for hit in theirs["hits"]]
    assert not sys.modules["ray"].is_initialized()


def test_ray_is_not_loaded_where_it_is_not_asked_for(longmatch, folder, tmp_path):
    before = "ray" in sys.modules
    longmatch("index", tmp_path / "library", folder)
    assert ("ray" in sys.modules) == before


@pytest.mark.parametrize(
    ("given", "understood"),
    [
        (["lib", "docs", "--ray"], ["lib", "docs", "--ray", "auto"]),
        (["lib", "docs", "--ray", "--prune"], ["lib", "docs", "--ray", "auto", "--prune"]),
        (["lib", "docs", "--ray", "host:6379"], ["lib", "docs", "--ray", "host:6379"]),
        (["lib", "docs", "--ray=host:6379"], ["lib", "docs", "--ray=host:6379"]),
    ],
)
def test_the_address_may_be_left_out(monkeypatch, given, understood):
    seen = []
    monkeypatch.setattr(WithRay.__bases__[0], "parse_args", lambda self, ctx, args: seen.extend(args) or [])
    WithRay.parse_args(object.__new__(WithRay), None, given)
    assert seen == understood
