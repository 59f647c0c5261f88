"""The sections found for a question, as a list."""

from longmatch.documents.read import read_text_string
from longmatch.matching.match import Passage
from longmatch.matching.section_hits import SectionHit, SectionHits

DOCUMENT = read_text_string("The bank failed on Monday. Depositors queued.", "bank.txt")
HIT = SectionHit(DOCUMENT, 0, 0.5, Passage("The bank failed on Monday.", 0, 26, ""))


def test_a_slice_keeps_the_remarks() -> None:
    hits = SectionHits([HIT, HIT], stands_out=False)
    hits.left_out = ("3 documents have no year.",)
    assert len(hits.remarks) == 2 and hits[:1].remarks == hits.remarks
    assert isinstance(hits[0], SectionHit) and len(hits[:1]) == 1
