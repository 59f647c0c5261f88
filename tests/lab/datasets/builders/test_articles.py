"""Wikispeedia, GWikiMatch, SDR's two sets and WikiExtractor: encyclopedia articles."""

import csv
import io
import os
import pickle
import tarfile

import pytest

from longmatch.errors import ReadError
from longmatch.lab.datasets import CollectionWriter, Part, RawDocument
from longmatch.lab.datasets.builders import gwikimatch, sdr_articles, wikiextractor, wikispeedia

GRAPH = "wikispeedia_paths-and-graph"
NAMES = ["%C3%85land", "Ape", "Man", "Ape_copy", "Fig", "Tree", "Leaf", "Sun", "Rain", "Rock"]
BASE = ["Fig", "Tree", "Leaf", "Sun", "Rain"]
LINKS = [(a, b) for a in ("Ape", "Man", "%C3%85land") for b in BASE] + [
    ("Ape", "Rock"),
    ("Ape_copy", "Man"),
    ("Fig", "Ape"),
]


def graph_files() -> dict[str, str]:
    return {
        f"{GRAPH}/articles.tsv": "# The list of all articles.\n\n" + "\n".join(NAMES) + "\n",
        f"{GRAPH}/links.tsv": "# FORMAT: source target\n\n" + "\n".join(f"{a}\t{b}" for a, b in LINKS) + "\n",
        f"{GRAPH}/categories.tsv": "# FORMAT\n\nApe\tsubject.Science\nMan\tsubject.People\n",
    }


def web_page(name: str, *links: str) -> str:
    anchors = " ".join(f'<a href="../../wp/x/{link}.htm" title="{link}">{link}</a>' for link in links)
    return (
        f"<html><head><title>{name}</title><style>p {{}}</style></head><body><h1 class='firstHeading'>{name}</h1>"
        f"<table class='infobox'><tr><td><a href='../../wp/r/Rock.htm'>box</a></td></tr></table>"
        f"<div class='thumb'><p>A picture.</p></div><p>About {name}: {anchors}.</p>"
        f"<h2><span>Biology</span></h2><p>Arms &amp; legs.<ul><li>One<li>Two</ul>"
        f"<h2>References</h2><p>Nobody.</p></body></html>"
    )


def test_wikispeedia_matches_by_all_links_and_by_links_in_the_text(built):
    pages = {f"wpcd/wp/{name[0].lower()}/{name}.htm": web_page(name) for name in NAMES[3:]}
    pages["wpcd/wp/a/Ape.htm"] = web_page("Ape", *BASE)
    pages["wpcd/wp/a/Ape_copy.htm"] = pages["wpcd/wp/a/Ape.htm"]
    pages["wpcd/wp/m/Man.htm"] = web_page("Man", *BASE)
    pages["wpcd/wp/a/%C3%85land.htm"] = web_page("Åland", "Rock")
    data = built(wikispeedia.build, {**graph_files(), **pages})
    assert "Ape_copy" not in data.ids  # the same text as Ape
    assert {(p.source, p.target) for p in data.pairs() if p.label} == {("Ape", "Man")}  # Åland's links are in its boxes
    assert {p.target for p in data.pairs() if not p.label} <= {*BASE, "Rock"}
    record = next(r for r in data.records() if r.id == "Åland")
    assert record.title == "Åland"
    assert [tuple(p) for p in record.parts] == [("", "About Åland: Rock."), ("Biology", "Arms & legs.\n\nOne\n\nTwo")]
    links = (data.path / "links.tsv").read_text().splitlines()
    assert links[0] == "source\ttarget"
    assert "Fig\tApe" in links
    assert "subject.Science" in (data.path / "categories.tsv").read_text()


def test_wikispeedia_reads_the_plain_text_too(built):
    def plain(name: str) -> str:
        return (
            f"#copyright\n\n{name}\n\n2007 Schools Wikipedia Selection. Related subjects: Science\n\n"
            f"   {name} is an article\n   of two lines.\n\n   More.\n\nBiology\n\n   Arms.\n\n"
            '   Retrieved from " http://en.wikipedia.org/wiki/X"\n   This reference article is selected.\n'
        )

    texts = {f"plaintext_articles/{name}.txt": plain(name) for name in NAMES}
    data = built(wikispeedia.build, {**graph_files(), **texts})
    assert {(p.source, p.target) for p in data.pairs() if p.label} == {
        ("Ape", "Man"),
        ("Ape", "Åland"),
        ("Man", "Åland"),
    }
    assert [tuple(p) for p in next(data.records()).parts] == [
        ("", "%C3%85land is an article of two lines.\n\nMore."),
        ("Biology", "Arms."),
    ]


def test_wikispeedia_reads_the_archive_as_published(tmp_path):
    raw = tmp_path / "raw"
    raw.mkdir()
    with tarfile.open(raw / "wikispeedia_paths-and-graph.tar.gz", "w:gz") as tape:
        for name, content in graph_files().items():
            member = tarfile.TarInfo(name)
            member.size = len(content.encode())
            tape.addfile(member, io.BytesIO(content.encode()))
    (raw / "plaintext_articles").mkdir()
    for name in NAMES:
        (raw / "plaintext_articles" / f"{name}.txt").write_text(f"   Text of {name}.")
    assert wikispeedia.build(raw, tmp_path / "out").documents == len(NAMES)


def test_gwikimatch_takes_the_text_from_a_dump(built):
    def page(title: str, redirect: str = "") -> str:
        lead = f'<redirect title="{redirect}"/>' if redirect else ""
        return (
            f"<page><title>{title}</title><ns>0</ns><id>1</id>{lead}"
            f"<revision><text>About '''{title}'''.</text></revision></page>"
        )

    at = "http://en.wikipedia.org/wiki/"
    name = "gwikimatch_v2_human_neg_1.{}_external_wdp.filtered_contro_wiki_cc_team.only_urls.tsv"
    titles = ("Chartered Engineer (UK)", "Engineering Council", "Physics", "Unasked")
    files = {
        name.format("train"): f"1\t{at}Chartered_Engineer_(UK)\t{at}Engineering_Council\n",
        name.format("eval"): f"0\t{at}Chartered_Engineer_%28UK%29\t{at}Physics_science\n",
        name.format("test"): f"2\t{at}Physics\t{at}Engineering_Council\n1\t{at}Physics\t{at}Gone\n",
        "dump.xml": "<mediawiki>"
        + page("Physics science", "Physics")
        + "".join(page(title) for title in titles)
        + "</mediawiki>",
    }
    data = built(gwikimatch.build, files)
    assert data.ids == ("Chartered_Engineer_(UK)", "Engineering_Council", "Physics")
    assert [tuple(p) for p in data.pairs()] == [
        ("test", "Physics", "Engineering_Council", 1),
        ("train", "Chartered_Engineer_(UK)", "Engineering_Council", 1),
        ("validation", "Chartered_Engineer_(UK)", "Physics", 0),
    ]
    assert next(data.records()).parts[0].text == "About Chartered Engineer (UK)."


def sdr_csv(articles: dict[str, list[tuple[str, str]]]) -> str:
    text = io.StringIO()
    rows = csv.writer(text)
    rows.writerow(["Title", "Sections"])
    rows.writerows([title, str(sections)] for title, sections in articles.items())
    return text.getvalue()


WINES = {
    "Merlot": [("", "A dark, 'blue' grape.\nIt is grown widely."), ("History", "Old."), ("Empty", "")],
    "Malbec": [("", "Another grape.")],
    "Moët &amp; Chandon": [("", "A house.")],
}


@pytest.mark.parametrize("name", ["wines", "video_games"])
@pytest.mark.parametrize("layout", ["{0}.txt", "data/datasets/{0}/raw_data"])
def test_sdr_reads_the_csv_and_the_label_pickle(built, name, layout):
    labels = {"Merlot": {"Malbec": 2, "Merlot": 1, "Moët & Chandon": 1}, "Malbec": {"Gone": 1}}
    files = {layout.format(name): sdr_csv(WINES), f"data/datasets/{name}/gt": pickle.dumps(labels)}
    data = built(sdr_articles.build, files, variant=name)
    assert data.ids == ("Merlot", "Malbec", "Moët & Chandon")
    assert data.qrels() == {"Merlot": {"Malbec": 1, "Moët & Chandon": 1}}
    assert data.splits == ("test",)
    assert [tuple(p) for p in next(data.records()).parts] == [
        ("", "A dark, 'blue' grape.\n\nIt is grown widely."),
        ("History", "Old."),
    ]


class Hostile:
    def __reduce__(self):
        return os.system, ("true",)


@pytest.mark.parametrize(
    ("table", "labels", "message"),
    [
        (sdr_csv(WINES), pickle.dumps({"Merlot": Hostile()}), "asks for (posix|nt).system"),
        (sdr_csv(WINES), pickle.dumps(["Merlot"]), "does not hold titles"),
        ("Title,Sections\nMerlot,__import__('os')\n", pickle.dumps({}), r"sections that cannot be read \(Merlot\)"),
        ("Title,Sections\nMerlot\n", pickle.dumps({}), "line 2 has no sections"),
    ],
)
def test_sdr_refuses_what_is_not_plain(lay_out, tmp_path, table, labels, message):
    with pytest.raises(ReadError, match=message):
        sdr_articles.build(lay_out({"wines.txt": table, "gt": labels}), tmp_path / "out", variant="wines")
    assert not (tmp_path / "out").exists()


def test_wikiextractor_output_becomes_articles_without_those_of_another_set(built, tmp_path):
    with CollectionWriter(tmp_path / "wiki") as writer:
        writer.add(RawDocument("Taken", "Taken & gone", (Part("", "Words."),)))
        writer.finish()
    body = "A long paragraph of the article, with <unescaped> signs & words."
    block = '<doc id="{0}" url="https://en.wikipedia.org/wiki?curid={0}" title="{1}">\n{1}\n\n{2}\n</doc>\n'
    files = {
        "AA/wiki_00": block.format(12, "Anarchism", f"{body}\n\nEarly life.\n{body}\n{body}")
        + block.format(13, "Taken &amp; gone", body),
        "AB/wiki_01": block.format(14, "Short", "Too few words"),
    }
    data = built(wikiextractor.build, files, without=tmp_path / "wiki", min_words=5)
    assert data.ids == ("enwiki2015:12",)
    record = next(data.records())
    assert record.title == "Anarchism"
    assert [tuple(p) for p in record.parts] == [("", body), ("Early life", f"{body}\n\n{body}")]
    assert data.splits == ()
