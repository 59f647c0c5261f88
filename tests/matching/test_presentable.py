"""Whole sentences that say something are shown before fragments, citations, formulas and rows of tables."""

import numpy as np
import pytest

from longmatch.documents.read import read_text_string
from longmatch.matching.align import Evidence, alignments, merge, readable_pairs
from longmatch.matching.match import Grid, Match, Passage
from longmatch.matching.presentable import choose, is_readable, is_sentence
from longmatch.render.json import to_dict

SENTENCES = [
    "The tribunal found that the harbour office had never repaired the northern wall.",
    "40. In the appeal, the owner relied on the survey made after the storm (Doe, 2001).",
    "• Older engines (the 4-4-0 among them) need more water on the coast line.",
    "“The lease ended when the crane was sold,” the surveyor wrote in his report.",
    "Compared with the earlier timetable, delays fell by 1.9% in May and by 6.8% in June.",
    "Smith et al. (2010) and Jones (2011) measured how ferries behave in winter storms.",
    "The tribunal found that the harbour\n        office had never repaired   the northern wall.",
    "Das Gericht hat den Mietvertrag über den nördlichen Kai für unwirksam erklärt.",
    "法院认为，被告未按照合同约定支付货款，应当承担违约责任。",
    "Under clause 4, (b) the owner and (c) the surveyor of the harbour may each ask J. Doe for the plans.",
    "The ferry's crew doesn't carry vitamin C, and it isn't kept in a box of 32 × 32 inches.",
]

FRAGMENTS = [
    "English.",
    "How ... we",
    "How the boats … and we who waited for them at the quay in winter.",
    "Anonymous submission",
    "2.1 Related Work",
    "examination of the northern wall has shown how the storm damaged its piers.",
    "Formally, a general problem of this kind can be illustrated as follows:",
    "Table 1: Ferries and timetables that were used in this study of the coast line.",
    "13Evidently, the worst of the older ferries can be found on the coast line.",
    "It is so, and that is that.",
    "The owner of the land (who had bought it from the harbour office in the spring.",
    "For each harbour h, let the ferry f in each timetable t be the one that is named on the board.",
    "From the lemma we see that the harbour L exceeds L2 for any two parameters z and z 0 .",
    "The results show that the ferries of R with E(R) = 0 cannot be adjusted by the harbour office.",
    "On this coast the constraint `1 on ↵Hr motivates `0 constraints for the ferries of the harbour.",
]

DEBRIS = [
    "(Smith, 2010; Jones and Doe, 2011; Miller et al., 2012a; Brown, 1999)",
    "Smith, J., Doe, K. and Miller, A. 2010. Ferries in winter. In Proceedings of the Harbour Conference, pages 1–10.",
    "AIR 1961 SC 838; 1962 SCR (1) 9; (1978) 3 SCC 459",
    "XT ci = αijhj j=1 (4) exp(a(si−1, hj ))",
    "∝ exp[w · φ(ci, di, di0 , x)] i=1",
    "May 7 12 430,500 June 9 14 512,100 July 3 8 99,700",
    "Rs. 8,000.00 Bonus ----------------- Rs.3,55,500.97 Rs. 28,740.00",
    "[12, 13, 14]",
    "",
]


@pytest.mark.parametrize("text", SENTENCES)
def test_a_sentence_with_content_words_reads_alone(text):
    assert is_sentence(text) and is_readable(text)


@pytest.mark.parametrize("text", FRAGMENTS)
def test_a_fragment_does_not(text):
    assert is_readable(text) and not is_sentence(text)


@pytest.mark.parametrize("text", DEBRIS)
def test_citations_formulas_and_rows_of_tables_are_debris(text):
    assert not is_readable(text)


def texts(pair):
    return pair


def test_pairs_are_chosen_in_their_order_and_both_sides_count():
    good, other = (SENTENCES[0], SENTENCES[1]), (SENTENCES[2], SENTENCES[3])
    pairs = [(DEBRIS[0], DEBRIS[0]), (SENTENCES[0], FRAGMENTS[0]), good, (DEBRIS[1], SENTENCES[0]), other]
    assert choose(pairs, 5, texts) == [good, other]
    assert choose(pairs, 1, texts) == [good]


def test_no_text_is_chosen_twice():
    pairs = [(SENTENCES[0], SENTENCES[1]), (SENTENCES[2], SENTENCES[1]), (SENTENCES[2], SENTENCES[3])]
    assert choose(pairs, 5, texts) == [pairs[0], pairs[2]]


def test_fragments_are_the_last_resort_but_one():
    assert choose([(DEBRIS[0], DEBRIS[0]), (FRAGMENTS[0], FRAGMENTS[1])], 3, texts) == [(FRAGMENTS[0], FRAGMENTS[1])]
    assert choose([(DEBRIS[0], DEBRIS[1])], 3, texts) == [(DEBRIS[0], DEBRIS[1])]
    assert choose([], 3, texts) == []


def test_the_second_of_a_pair_is_not_read_where_the_first_is_no_sentence():
    def texts(pair):
        yield pair[0]
        assert pair[1], "asked for"
        yield pair[1]

    good = (SENTENCES[0], SENTENCES[1])
    assert choose([(FRAGMENTS[0], ""), (DEBRIS[0], ""), good], 1, texts) == [good]


def test_the_passages_of_a_match_stay_complete_and_the_best_say_something():
    lines = [DEBRIS[0], FRAGMENTS[3], SENTENCES[0], SENTENCES[1]]
    document = read_text_string("\n\n".join(lines))

    class Lines:
        def passages(self, rows: np.ndarray) -> list[Passage]:
            return [Passage(lines[row], 0, 0, "") for row in rows.tolist()]

    weights = np.array([4.0, 3.0, 2.0, 1.0])
    pairs = merge([Evidence(np.arange(4), weights)], [])
    args = pairs, (Lines(), Lines()), lambda i, j: np.ones(len(i)), None
    readable = readable_pairs(pairs, (lines.__getitem__, lines.__getitem__), 2)
    every, shown = alignments(*args), alignments(*args, readable)
    assert [pair.contribution for pair in every] == pytest.approx([0.4, 0.3, 0.2, 0.1])
    assert [pair.a.text for pair in shown] == lines[2:]
    assert [pair.contribution for pair in shown] == pytest.approx([0.2, 0.1])
    match = Match(document, document, 1.0, Grid((), (), (), (), np.zeros((0, 0), np.float32)), every, "test")
    assert match.best(2) == every[2:]
    assert [passages["a"]["text"] for passages in to_dict(match)["passages"]] == lines
