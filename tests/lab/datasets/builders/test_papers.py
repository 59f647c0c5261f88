"""AAN, ScisummNet and PeerRead: papers and what they cite."""

import json

from longmatch.lab.datasets.builders import aan, peerread, scisumm
from longmatch.lab.datasets.splits import DEFAULT, PAPERS

PAPER = """A Title of {id}

Some Author
Abstract
This abstract tells too much.
1 Introduction
We study pars-
ing of text {id}.

It is hard.
2 The Model
A model of trees.
2.1 Training
By counting.
References
Eric Brill. 1995. A title that must not leak.
"""
METADATA = """id = {A00-1001}
author = {Author, Some}
title = {Parsing  Text}
venue = {ANLP}
year = {2000}

id = {A00-1002}
author = {Other, One}
title = {More}
year = {2000}
"""


def test_aan_reads_texts_citations_and_titles(built):
    papers = {f"aan/papers_text/A00-100{n}.txt": PAPER.format(id=n) for n in range(1, 6)}
    files = {
        **papers,
        "aan/papers_text/A00-1009.txt": " \n",
        "aan/release/2013/acl.txt": "A00-1001 ==> A00-1005\n",
        "aan/release/2014/acl.txt": "A00-1001 ==> A00-1002\nA00-1003 ==> A00-1001\nA00-1001 ==> X99-9999\n",
        "aan/release/2014/acl-metadata.txt": METADATA,
    }
    data = built(aan.build, files)
    assert data.ids == tuple(f"A00-100{n}" for n in range(1, 6))
    first = next(data.records())
    assert first.title == "Parsing Text"
    assert [tuple(part) for part in first.parts] == [
        ("1 Introduction", "We study parsing of text 1.\n\nIt is hard."),
        ("2 The Model", "A model of trees."),
        ("2.1 Training", "By counting."),
    ]
    assert data.qrels() == {"A00-1001": {"A00-1002": 1}, "A00-1003": {"A00-1001": 1}}
    assert [p.label for p in data.pairs()].count(0) == 2
    assert all(p.split == PAPERS.of_pair(p.source, p.target) for p in data.pairs())


def test_aan_keeps_a_paper_that_has_no_headings():
    parts = aan.paper_parts("Title\nABSTRACT Short words.\n\nThe text goes on\nand on.\n\nEnd.")
    assert [part.text for part in parts] == ["The text goes on and on.\n\nEnd."]


def scisumm_paper(title: str, body: str) -> str:
    sentences = "".join(f'<S sid="{n}" ssid="{n}">Sentence number {n} here.</S>' for n in range(1, 8))
    return (
        f'<PAPER>\n  <S sid="0">{title}</S>\n  <ABSTRACT>\n    <S sid="1" ssid="1">Abstract words.</S>\n  </ABSTRACT>\n'
        f'  <SECTION title="1 Introduction" number="1">{sentences}<S sid="9" ssid="9">{body}</S></SECTION>\n'
        f'  <SECTION title="Acknowledgments" number="2"><S sid="10" ssid="1">Thanks.</S></SECTION>\n'
        f'  <SECTION title="References" number="3"><S sid="11" ssid="1">Brill 1995.</S></SECTION>\n</PAPER>\n'
    )


def citing(*papers: tuple[str, str]) -> str:
    return json.dumps(
        [{"citance_No": 1, "citing_paper_id": i, "citing_paper_authors": a, "raw_text": "x"} for i, a in papers]
    )


def test_scisumm_reads_papers_and_both_kinds_of_citation(built):
    top = "data/Training-Set-2019"
    files = {
        f"{top}/Task1/A00-1001/Reference_XML/A00-1001.xml": scisumm_paper(
            "TnT &amp;quot;fast&amp;quot;", "No citation."
        ),
        f"{top}/Task1/A00-1001/Citance_XML/W02-1040.xml": scisumm_paper("Coreference", "As Agirre et al. (2000) say."),
        f"{top}/Task1/W00-1326/Reference_XML/W00-1326.xml": scisumm_paper("Senses", "As Smith (2001) says."),
        f"{top}/Task1/P99-1001/Reference_XML/P99-1001.xml": "<PAPER><S sid='0'>Broken</PAPER>",
        f"{top}/Task1/P99-1002/Reference_XML/P99-1002.xml": "<PAPER><S sid='0'>Short</S></PAPER>",
        f"{top}/Task2/A00-1001/citing_sentences_annotated.json": citing(
            ("W00-1326", "Eneko, Agirre | David, Martinez"),
            ("W02-1040", "Michael, Strube"),
            ("P01-1001", "A, Smith"),
            ("P01-1002", "B, Smith"),
        ),
    }
    data = built(scisumm.build, files, min_words=10)
    assert data.ids == ("A00-1001", "W00-1326", "W02-1040")
    first = next(data.records())
    assert first.title == 'TnT "fast"'
    assert [part.heading for part in first.parts] == ["1 Introduction"]
    assert [len(p.split(".")) - 1 for p in first.parts[0].text.split("\n\n")] == [5, 3]
    assert data.qrels() == {"W00-1326": {"A00-1001": 1}, "W02-1040": {"A00-1001": 1, "W00-1326": 1}}
    assert all(row.split == DEFAULT.of(row.query) for row in data.judgements())


def parsed(title: str, authors: list[str], references: list[dict[str, object]], words: int = 50) -> str:
    sections = [
        {"heading": None, "text": "front matter"},
        {"heading": "1 Introduction", "text": "word " * words + "\nSecond line."},
        {"heading": "References", "text": "leaks"},
    ]
    metadata = {
        "source": "CRF",
        "title": title,
        "authors": authors,
        "sections": sections,
        "references": references,
        "abstractText": "An abstract.",
    }
    return json.dumps({"name": "x.pdf", "metadata": metadata})


def test_peerread_matches_references_by_title_and_surname_or_arxiv_id(built):
    top = "data/arxiv.cs.cl_2007-2017"
    by_title = {"title": "DEEP parsing: with trees.", "author": ["M. Müller"], "year": 2015, "venue": "ACL"}
    other_author = {"title": "Learning to translate", "author": ["N. Body"], "year": 2016, "venue": "ACL"}
    by_id = {"title": "Unreadable", "author": [], "year": 2016, "venue": "arXiv preprint arXiv:1603.00003"}
    files = {
        f"{top}/train/parsed_pdfs/1501.00001.pdf.json": parsed("Deep Parsing with Trees", [], []),
        f"{top}/train/reviews/1501.00001.json": json.dumps({"title": "t", "authors": ["Max Muller"], "abstract": "a"}),
        f"{top}/dev/parsed_pdfs/1602.00002.pdf.json": parsed("Learning to Translate", ["Ann Other"], [by_title]),
        f"{top}/test/parsed_pdfs/1603.00003.pdf.json": parsed("Third", ["C. Three"], [by_title, other_author]),
        f"{top}/test/parsed_pdfs/1604.00004.pdf.json": parsed("Fourth", ["D. Four"], [by_id]),
        "data/acl_2017/train/parsed_pdfs/104.pdf.json": parsed("Fifth", ["E. Five"], []),
        f"{top}/test/parsed_pdfs/1605.00005.pdf.json": parsed("Too short", ["F. Six"], [], words=1),
    }
    data = built(peerread.build, files, min_words=20)
    assert set(data.ids) == {"1501.00001", "1602.00002", "1603.00003", "1604.00004", "acl_2017:104"}
    assert data.qrels() == {
        "1602.00002": {"1501.00001": 1},
        "1603.00003": {"1501.00001": 1},
        "1604.00004": {"1603.00003": 1},
    }
    record = next(r for r in data.records() if r.id == "1603.00003")
    assert [part.heading for part in record.parts] == ["", "1 Introduction"]
    assert record.parts[1].text.endswith("\n\nSecond line.")


def test_peerread_drops_targets_that_all_cite(lay_out, tmp_path):
    common = {"title": "The paper that everyone cites", "author": ["A. One"], "year": 2014, "venue": ""}
    files = {"data/v/train/parsed_pdfs/1400.00000.pdf.json": parsed("The Paper that Everyone Cites", ["A. One"], [])}
    for n in range(1, 4):
        files[f"data/v/train/parsed_pdfs/1400.0000{n}.pdf.json"] = parsed(f"Paper {n}", ["B. Two"], [common])
    raw = lay_out(files)
    assert peerread.build(raw, tmp_path / "three", min_words=20, most_cited=3).judgements == 3
    assert peerread.build(raw, tmp_path / "two", min_words=20, most_cited=2).judgements == 0
