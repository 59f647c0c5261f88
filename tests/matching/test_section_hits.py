"""The sections found for a question, as a list."""

from io import StringIO
from pathlib import Path

from rich.console import Console

from longmatch.documents.read import read, read_text_string
from longmatch.matching.match import Passage
from longmatch.matching.section_hits import SectionHit, SectionHits
from longmatch.render.terminal.sections import print_sections

DOCUMENT = read_text_string("The bank failed on Monday. Depositors queued.", "bank.txt")
HIT = SectionHit(DOCUMENT, 0, 0.5, Passage("The bank failed on Monday.", 0, 26, ""))


def test_a_slice_keeps_the_remarks() -> None:
    hits = SectionHits([HIT, HIT], stands_out=False)
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
    assert hit.to_dict()["section"] == "B. Standing" and hit.to_dict()["parents"] == ["III. Discussion"]
    table = StringIO()
    SectionHits([hit]).to_csv(table)
    assert hit.path in table.getvalue()
    said = StringIO()
    print_sections(SectionHits([hit]), Console(file=said, width=120))
    assert said.getvalue().splitlines()[0].endswith(hit.path)


def test_a_passage_comes_with_its_paragraph_unless_that_is_very_long() -> None:
    assert HIT.paragraph == "The bank failed on Monday. Depositors queued."
    long = read_text_string(f"The bank failed on Monday. {'Depositors queued. ' * 300}", "bank.txt")
    assert SectionHit(long, 0, 0.5, HIT.passage).paragraph == "The bank failed on Monday."
