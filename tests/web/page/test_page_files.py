"""What the page is made of, without a browser."""

import re

import pytest

from longmatch.render import html as render
from longmatch.web.page.routes import OWN, assets, index

INDEX = index().content.decode()


def test_the_page_brings_every_style_and_script_of_the_exported_comparison():
    for name in (*render.STYLES, *render.SCRIPTS):
        assert f"static/render/{name}" in INDEX
        assert assets()[f"render/{name}"].content.decode() in (render.asset(name) + "\n", render.asset(name))


def test_shared_styles_come_before_the_page_s_own():
    styles = re.findall(r'href="static/(\S+?\.css)"', INDEX)
    assert styles[: len(render.STYLES)] == [f"render/{name}" for name in render.STYLES]
    assert len(styles) > len(render.STYLES)


def test_every_file_the_page_names_is_served():
    named = re.findall(r'(?:src|href)="static/([^"]+)"', INDEX)
    imported = [
        f"page/{name}"
        for asset in OWN.glob("*.js")
        for name in re.findall(r'from "\./([\w.]+)"', asset.read_text("utf-8"))
    ]
    assert imported and set(named) | set(imported) <= set(assets())


def test_nothing_is_inlined_and_nothing_comes_from_elsewhere():
    assert not re.search(r"<script(?![^>]* src=)", INDEX) and "<style" not in INDEX
    assert not re.search(r"\son\w+=|\sstyle=", INDEX)
    for name, asset in assets().items():
        outside = re.findall(rb"https?://[^\s\"'<)]+", asset.content)
        assert set(outside) <= {b"http://www.w3.org/2000/svg"}, name


def test_text_is_placed_as_text_everywhere_but_in_one_function():
    wild = re.compile(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function")
    parsing = [p.name for p in OWN.glob("*.js") if "DOMParser" in p.read_text("utf-8")]
    assert parsing == ["dom.js"]
    for name, asset in assets().items():
        assert not wild.search(asset.content.decode()), name


@pytest.mark.parametrize(
    "name", ["../app.py", "page/../assets.py", "page/index.html", "nothing.js", "render/page.html"]
)
def test_only_the_files_of_the_list_are_served(client, name):
    answer = client.get(f"/static/{name}")
    assert answer.status_code == 404 and answer.json()["detail"].endswith(".")


def test_a_file_that_did_not_change_is_not_sent_again(client):
    first = client.get("/static/page/app.js")
    assert first.headers["content-type"].startswith("text/javascript")
    again = client.get("/static/page/app.js", headers={"If-None-Match": first.headers["etag"]})
    assert again.status_code == 304 and not again.content


def test_the_page_forbids_all_that_is_not_its_own(client):
    policy = client.get("/").headers["content-security-policy"]
    assert "default-src 'none'" in policy and "script-src 'self'" in policy and "unsafe" not in policy


def test_a_view_is_the_exported_comparison_without_its_frame(client):
    asked = {"a": "report-1.md", "b": "report-2.md"}
    view = client.get("/api/v1/compare/view", params=asked).text
    assert view.strip() in client.get("/api/v1/compare/export", params=asked | {"format": "html"}).text


def test_a_view_of_a_level_holds_its_matrix(client):
    asked = {"a": "report-1.md", "b": "report-2.md", "level": "sentences", "part": "matrix"}
    view = client.get("/api/v1/compare/view", params=asked).text
    assert "<h2>Sentence by sentence</h2>" in view and 'class="pane"' not in view
    within = client.get("/api/v1/within/view", params={"document": "report-1.md"}).text
    assert "its sections against each other" in within


def test_a_view_of_an_unknown_document_is_refused_in_a_sentence(client):
    answer = client.get("/api/v1/compare/view", params={"a": "nothing.md", "b": "report-2.md"})
    assert answer.status_code == 404 and "nothing.md" in answer.json()["detail"]
