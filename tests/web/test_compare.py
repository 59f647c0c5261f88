"""Comparisons at every level, within one document, and as files."""

import json
from dataclasses import replace

import pytest

from longmatch.render.json import to_dict
from longmatch.web.limits import Limits
from tests.web.conftest import API, calling, upload

PAIR = {"a": "report-1.md", "b": "report-6.md"}


def asked(client, path, **more):
    answer = client.get(f"{API}/{path}", params=more)
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_a_comparison_has_the_score_that_the_ranking_gives(client):
    found = asked(client, "compare", **PAIR)
    hits = asked(client, "rank", document=PAIR["a"], k=20)["hits"]
    assert found["score"] == pytest.approx(next(h["score"] for h in hits if h["id"] == PAIR["b"]), abs=0.02)


def test_the_contributions_of_all_passages_sum_to_one(client):
    found = asked(client, "compare", **PAIR)
    assert sum(pair["contribution"] for pair in found["passages"]) == pytest.approx(1)
    assert all(pair["evidence"] in (True, False) and pair["paraphrase"] in (True, False) for pair in found["passages"])


def test_a_comparison_has_a_permanent_address_and_says_what_it_means(client):
    found = asked(client, "compare", a="rivers/lower/a & b?.txt", b="report-1.md")
    assert found["address"] == "/#/compare?a=rivers%2Flower%2Fa+%26+b%3F.txt&b=report-1.md"
    assert (found["verdict"] or found["remarks"]) and found["carried_by"].startswith("Based on")


@pytest.mark.parametrize("level", ["sections", "chunks", "sentences"])
def test_a_grid_has_a_span_and_a_name_for_every_row_and_column(client, shelf, level):
    grid = asked(client, "compare/grid", **PAIR, level=level)
    assert len(grid["rows"]) == len(grid["row_spans"]) == len(grid["scores"])
    assert all(len(row) == len(grid["columns"]) == len(grid["column_spans"]) for row in grid["scores"])
    assert all(0 <= start < end <= len(shelf.show(PAIR["a"]).text) for start, end in grid["row_spans"])


def test_a_document_with_itself_is_compared_within(client):
    within = asked(client, "within", document="report-1.md")
    assert within == asked(client, "compare", a="report-1.md", b="report-1.md")
    assert within["address"] == "/#/within?document=report-1.md"
    assert within["sections"]["rows"] == ["Report 1", "More"]


def test_another_model_gives_its_own_score(client):
    names = [model["name"] for model in asked(client, "models")["models"]]
    scores = {name: asked(client, "compare", **PAIR, model=name)["score"] for name in names}
    assert len(names) == 6 and len(set(scores.values())) > 4


@pytest.mark.parametrize("model", ["/etc", "../shelf", "colde", "owner/model", ""])
def test_a_model_that_is_not_on_the_list_is_never_opened(client, model):
    answer = client.get(f"{API}/compare", params={**PAIR, "model": model})
    if model:
        assert answer.status_code == 422 and answer.json()["detail"].startswith(f"There is no model {model} here.")
    else:
        assert answer.json()["model"] == "default"


def test_an_upload_can_be_compared_with_a_document_and_with_another_upload(client, shelf):
    text = shelf.show("report-1.md").text
    ids = [upload(client, text, f"copy-{n}.md").json()["upload"] for n in range(2)]
    assert asked(client, "compare", a=ids[0], b="report-1.md")["score"] > 0.95
    assert asked(client, "compare", a=ids[0], b=ids[1])["score"] > 0.95


def test_a_comparison_is_worked_out_once(client):
    state = client.app.state.longmatch
    asked(client, "compare", **PAIR)
    [first] = state.compared.values()
    asked(client, "compare/grid", **PAIR, level="sentences")
    [again] = state.compared.values()
    assert again is first


def test_a_level_is_worked_out_once(client):
    state = client.app.state.longmatch
    first = asked(client, "compare/grid", **PAIR, level="sentences")
    (_, kept), *_ = state.grids.values()
    assert asked(client, "compare/grid", **PAIR, level="sentences") == first
    assert [grid for _, grid in state.grids.values()] == [kept]


def test_only_so_many_comparisons_are_kept(shelf):
    with calling(shelf, limits=Limits(comparisons=2)) as client:
        for n in range(4):
            asked(client, "compare", a="report-6.md", b=f"report-{n}.md")
        assert len(client.app.state.longmatch.compared) == 2


def test_a_grid_that_is_too_large_is_refused_with_a_sentence(shelf):
    with calling(shelf, limits=Limits(cells=10)) as client:
        answer = client.get(f"{API}/compare/grid", params={**PAIR, "level": "sentences"})
        assert answer.status_code == 422 and "Ask for a coarser level" in answer.json()["detail"]


def test_the_exported_page_is_a_file_that_stands_alone_and_escapes_what_it_shows(client):
    answer = client.get(f"{API}/compare/export", params={"a": "hostile", "b": "report-1.md"})
    assert answer.headers["content-disposition"].startswith("attachment; filename=")
    assert answer.headers["content-disposition"].endswith('.html"')
    assert "<script>alert" not in answer.text and "&lt;script&gt;alert" in answer.text
    assert "http-equiv" in answer.text and "default-src &#39;none&#39;" in answer.text


def test_the_exported_json_is_what_the_command_line_prints(client, shelf):
    answer = client.get(f"{API}/compare/export", params={**PAIR, "format": "json"})
    assert answer.headers["content-disposition"] == 'attachment; filename="report-1-and-report-6.json"'
    assert json.loads(answer.text) == json.loads(json.dumps(to_dict(shelf.compare(PAIR["a"], PAIR["b"]))))


def test_scores_of_the_library_do_not_depend_on_the_order_of_the_two(client):
    there, back = asked(client, "compare", **PAIR), asked(client, "compare", a=PAIR["b"], b=PAIR["a"])
    assert there["score"] == pytest.approx(back["score"], abs=1e-6)


def test_a_comparison_without_a_verdict_says_why(client, shelf, monkeypatch):
    match = replace(shelf.compare(PAIR["a"], PAIR["b"]), probability=None, why_not="kind")
    monkeypatch.setattr(client.app.state.longmatch, "compare_now", lambda *asked: match)
    found = asked(client, "compare", **PAIR)
    assert (found["verdict"], found["no_verdict"], found["probability"]) == (None, "kind", None)
    (why,) = found["remarks"]
    view = client.get(f"{API}/compare/view", params=PAIR).text
    assert why.startswith("Whether the two belong together cannot be said") and why in view
    assert 'class="number"' not in view and 'class="bar"' not in view


def test_the_text_that_stands_in_both_is_told(client, shelf):
    text = shelf.show("report-1.md").text
    version = upload(client, text + "\n\nA closing word on the harbour that nobody had written before.\n").json()[
        "upload"
    ]
    found = asked(client, "compare", a="report-1.md", b=version)
    assert found["relation"] == "version" and found["reuse"]["share_a"] > 0.95
    assert found["revision"]["added"] >= 10 and "versions of one text" in found["shared_text"][0]
    assert asked(client, "compare", **PAIR)["relation"] in ("related", "unrelated", None)
    assert asked(client, "within", document="report-1.md")["reuse"] is None


def test_the_changes_between_two_documents_can_be_saved(client):
    answer = client.get(f"{API}/compare/export", params={**PAIR, "format": "redline"})
    assert answer.status_code == 200 and "<del>" in answer.text and "<ins>" in answer.text
    assert answer.headers["content-disposition"].endswith('-changes.html"')
