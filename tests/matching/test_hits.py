"""Hits, matches and documents as they show themselves: brief, escaped, as a table."""

import csv
import sys
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

import longmatch as lm
from longmatch.documents.read import read, read_text_string
from longmatch.errors import LongmatchError
from longmatch.matching.hits import COLUMNS, Hit, Hits, SameDocument, SectionHit, SectionHits
from longmatch.matching.match import Passage
from longmatch.render.export import HIT_COLUMNS, write_table
from longmatch.render.json import to_dict
from longmatch.render.notebook import notebook_html
from longmatch.render.terminal import print_sections

QUERY = read_text_string("The bank failed on Monday. " * 2_000, "query.txt", "The run <b>on</b> the bank")
OTHER = read_text_string(
    "Depositors of the bank that failed queued <script>alert(1)</script>. " * 2_000, "other.txt", "Queues " * 50
)


@pytest.fixture(scope="module")
def matcher():
    return lm.load("tfidf")


@pytest.fixture(scope="module")
def hits(matcher):
    return matcher.rank(QUERY, [OTHER, read_text_string("Snow fell on the hills.", "snow.txt")])


@pytest.fixture(scope="module")
def match(matcher):
    return matcher.compare(QUERY, OTHER)


def test_everything_shows_itself_in_one_short_line(hits, match):
    for shown in (QUERY, OTHER, match, hits, hits[0], match.alignments[0].a):
        assert len(repr(shown)) < 200 and "\n" not in repr(shown)
    assert "other.txt" in repr(hits) and "other.txt" in repr(hits[0]) and "query.txt" in repr(match)


def test_html_is_escaped_and_short(hits, match):
    for shown in (QUERY, OTHER, match, hits, hits[0]):
        html = shown._repr_html_() if isinstance(shown, lm.Document) else notebook_html(shown)
        assert "<script" not in html and "<b>on" not in html and len(html) < 10_000
    assert "&lt;script&gt;" in notebook_html(hits) and "other.txt" in notebook_html(hits)


def test_a_document_compared_with_itself_has_no_verdict(matcher):
    html = notebook_html(lm.load("tfidf").compare(QUERY, QUERY))
    assert "belong" not in html and "<table>" in html


def test_hits_are_a_list_and_so_is_a_slice_of_them(hits):
    assert isinstance(hits, list) and hits == list(hits) and [hit.id for hit in hits] == ["other.txt", "snow.txt"]
    assert isinstance(hits[:1], Hits) and isinstance(hits[0], Hit) and len(hits[:1]) == 1


def test_a_slice_keeps_the_remarks():
    same = SameDocument(OTHER, "copy")
    hits = Hits([Hit(OTHER, 0.9, 99.0), Hit(QUERY, 0.5, 90.0)])
    hits.stands_out, hits.left_out, hits.same = False, ("3 documents have no year.",), (same,)
    assert len(hits.remarks) == 3
    assert hits[:1].remarks == hits.remarks and hits[:1].same == (same,)


def test_no_hits_show_themselves_too():
    assert repr(Hits()) == "<Hits: none>" and "<table>" in notebook_html(Hits())


def test_csv_has_a_line_per_document(hits):
    file = StringIO()
    write_table(hits, file)
    first, second = csv.DictReader(StringIO(file.getvalue()))
    assert tuple(first) == HIT_COLUMNS and (first["id"], second["id"]) == ("other.txt", "snow.txt")
    assert (first["verdict"], first["probability"]) == ("", "") and "bank" in first["passage"]


def test_a_data_frame_has_a_row_per_document(hits):
    pytest.importorskip("pandas")
    frame = hits.to_pandas()
    assert list(frame.columns) == list(COLUMNS) and list(frame["id"]) == ["other.txt", "snow.txt"]
    assert list(Hits().to_pandas().columns) == list(COLUMNS)


def test_without_pandas_one_sentence_says_what_to_install(hits, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(LongmatchError, match="pip install pandas"):
        hits.to_pandas()


def test_dir_lists_the_public_names_alone():
    assert dir(lm) == sorted(lm.__all__)


DOCUMENT = read_text_string("The bank failed on Monday. Depositors queued.", "bank.txt")
SECTION = SectionHit(DOCUMENT, 0, 0.5, Passage("The bank failed on Monday.", 0, 26, ""))


def test_a_slice_of_sections_keeps_the_remarks() -> None:
    hits = SectionHits([SECTION, SECTION], stands_out=False)
    hits.left_out = ("3 documents have no year.",)
    assert len(hits.remarks) == 2 and hits[:1].remarks == hits.remarks
    assert isinstance(hits[0], SectionHit) and len(hits[:1]) == 1


def test_a_section_is_named_below_the_headings_above_it_but_the_title(tmp_path: Path) -> None:
    text = "# The ruling\n\nIt is long.\n\n## III. Discussion\n\nWe turn to it.\n\n### B. Standing\n\nThe loss is his."
    (tmp_path / "ruling.md").write_text(text)
    document = read(tmp_path / "ruling.md")
    start = document.text.index("The loss")
    hit = SectionHit(document, 2, 0.5, Passage("The loss is his.", start, start + 16, "B. Standing"))
    assert (hit.heading, hit.parents) == ("B. Standing", ("III. Discussion",))
    assert hit.path == "III. Discussion › B. Standing"
    assert to_dict(hit)["section"] == "B. Standing" and to_dict(hit)["parents"] == ["III. Discussion"]
    table = StringIO()
    write_table(SectionHits([hit]), table)
    assert hit.path in table.getvalue()
    said = StringIO()
    print_sections(SectionHits([hit]), Console(file=said, width=120))
    assert said.getvalue().splitlines()[0].endswith(hit.path)


def test_a_passage_comes_with_its_paragraph_unless_that_is_very_long() -> None:
    assert SECTION.paragraph == "The bank failed on Monday. Depositors queued."
    long = read_text_string(f"The bank failed on Monday. {'Depositors queued. ' * 300}", "bank.txt")
    assert SectionHit(long, 0, 0.5, SECTION.passage).paragraph == "The bank failed on Monday."
