"""WIKI from a Wikipedia dump."""

import bz2
import random
import tracemalloc
from xml.sax.saxutils import escape

import pytest

from longmatch.errors import LongmatchError, ReadError
from longmatch.lab.datasets import DataFolder
from longmatch.lab.datasets.builders import wiki_dump

HEAD = (
    '<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.11/" version="0.11" xml:lang="en">\n'
    "  <siteinfo><sitename>Wikipedia</sitename></siteinfo>\n"
)
FILLER = "This sentence has seven words in it. " * 10


def page(title: str, text: str, ns: int = 0, redirect: str = "") -> str:
    lead = f'    <redirect title="{escape(redirect)}" />\n' if redirect else ""
    return (
        f"  <page>\n    <title>{escape(title)}</title>\n    <ns>{ns}</ns>\n    <id>1</id>\n{lead}"
        f"    <revision>\n      <id>2</id>\n      <model>wikitext</model>\n"
        f'      <text bytes="1" xml:space="preserve">{escape(text)}</text>\n    </revision>\n  </page>\n'
    )


def article(title: str, *links: str) -> str:
    body = f"'''{title}''' is {{{{nowrap|a thing}}}}. {FILLER}\n== Links ==\n" + "\n".join(f"* [[{x}]]" for x in links)
    return page(title, body.replace("== Links ==", "== Nature =="))


FRUITS = ("Apple", "Pear", "Quince")
SHARED = ("Tree", "Leaf", "Sugar", "Juice", "Orchard")
DUMP = (
    HEAD
    + "".join(article(name, *SHARED, "Sweet sugar|sweet") for name in FRUITS)
    + article("Plum tree", "tree", "Leaf", "Rock", "Sand", "Iron")
    + "".join(article(name, "Apple", "Rock") for name in SHARED)
    + "".join(article(name) for name in ("Rock", "Sand", "Iron"))
    + page("Sweet sugar", "#REDIRECT [[Sugar]]", redirect="Sugar")
    + page("Apple (disambiguation)", " ".join(f"[[{x}]]" for x in SHARED))
    + page("Talk:Apple", " ".join(f"[[{x}]]" for x in SHARED), ns=1)
    + "</mediawiki>\n"
)


@pytest.mark.parametrize("packed", [False, True])
def test_articles_that_share_links_match_and_linked_ones_do_not(built, packed):
    files = {"enwiki-pages-articles.xml.bz2": bz2.compress(DUMP.encode())} if packed else {"enwiki.xml": DUMP}
    data = built(wiki_dump.build, files)
    assert {(p.source, p.target) for p in data.pairs() if p.label} == {
        ("Apple", "Pear"),
        ("Apple", "Quince"),
        ("Pear", "Quince"),
    }
    negatives = [(p.source, p.target) for p in data.pairs() if not p.label]
    assert sorted(source for source, _ in negatives) == ["Apple", "Apple", "Pear"]
    assert {target for _, target in negatives} <= set(SHARED)
    assert data.qrels()["Quince"] == {"Apple": 1, "Pear": 1}
    assert set(data.ids) <= {*FRUITS, *SHARED}


def test_text_is_cleaned_into_sections(built):
    record = next(built(wiki_dump.build, {"enwiki.xml": DUMP}).records())
    assert (record.id, record.title) == ("Apple", "Apple")
    assert [part.heading for part in record.parts] == ["", "Nature"]
    assert record.parts[0].text.startswith("Apple is . This sentence has seven words")


def test_two_similar_articles_alone_are_kept_only_by_smiths_rule(built, lay_out, tmp_path):
    two = (
        HEAD + "".join(article(n, *SHARED) for n in ("Apple", "Pear")) + "".join(map(article, SHARED)) + "</mediawiki>"
    )
    with pytest.raises(LongmatchError, match="No documents were found"):
        wiki_dump.build(lay_out({"a.xml": two}), tmp_path / "none")
    assert not (tmp_path / "none").exists()
    data = built(wiki_dump.build, {"a.xml": two}, min_similar=1)
    assert [(p.source, p.target) for p in data.pairs() if p.label] == [("Apple", "Pear")]


def test_links_go_through_redirects():
    graph = wiki_dump.LinkGraph()
    graph.add("A", ["B", "Bee", "Gone", "A"])
    graph.add("B", ["C", "Bee"])
    graph.add("C", [])
    graph.redirect("Bee", "B")
    assert [row.tolist() for row in graph.outgoing()] == [[1], [2], []]
    assert [graph.id(at) for at in range(3)] == ["A", "B", "C"]


def test_a_dump_that_declares_entities_is_refused(lay_out, tmp_path):
    laughs = '<!DOCTYPE mediawiki [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;">]>' + DUMP.replace("Apple", "&b;")
    with pytest.raises(ReadError, match="declares custom entities"):
        wiki_dump.build(lay_out({"enwiki.xml": laughs}), tmp_path / "out")


def test_a_dump_cut_short_is_said_to_be(lay_out, tmp_path):
    packed = bz2.compress(DUMP.encode())
    with pytest.raises(ReadError, match="cannot be read to its end"):
        wiki_dump.build(lay_out({"enwiki.xml.bz2": packed[: len(packed) // 2]}), tmp_path / "out")


@pytest.mark.slow
def test_a_50_megabyte_dump_builds_in_20_megabytes(tmp_path):
    draw = random.Random(0)
    body = " ".join(f"word{draw.randrange(500)}" for _ in range(6_000))  # 42 kB
    with (tmp_path / "dump.xml").open("w", encoding="utf-8") as file:
        file.write(HEAD)
        for number in range(1_200):
            # the first forty articles share their links in fours, the others link at random
            shared = [f"Article {number // 4 * 40 + k}" for k in range(20)]
            links = shared if number < 40 else [f"Article {draw.randrange(1_200)}" for _ in range(6)]
            file.write(page(f"Article {number}", f"{body}\n== More ==\n" + " ".join(f"[[{link}]]" for link in links)))
        file.write("</mediawiki>")
    assert (tmp_path / "dump.xml").stat().st_size > 50_000_000
    tracemalloc.start()
    summary = wiki_dump.build(tmp_path / "dump.xml", tmp_path / "out")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 20_000_000  # half of it is the xz encoder's window
    assert summary.pairs == 2 * 10 * 6  # six pairs in each four, and as many non-matches
    matches = [p for p in DataFolder(tmp_path / "out").pairs() if p.label]
    assert all(int(p.source[8:]) // 4 == int(p.target[8:]) // 4 for p in matches)
