"""Every link of the documentation leads somewhere."""

import pytest

from tests.docs.pages import COPIED, DOCS, ROOT, anchors, links, pages


@pytest.mark.parametrize("page", pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_to_a_file_and_a_heading(page):
    for link in links(page):
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), link
        assert not anchor or anchor in anchors(target), link


def test_the_navigation_names_every_page_once():
    text = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:")[2]
    named = [line.rsplit(" ", 1)[1] for line in text.splitlines() if line.endswith(".md")]
    written = {path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md")}
    assert sorted(named) == sorted({name for name in written if not name.startswith("results/")} | COPIED)
