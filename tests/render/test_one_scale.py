"""A person sees one scale of how well two documents belong together, or none: on every surface."""

import re
from collections.abc import Callable
from dataclasses import replace
from html import unescape
from io import StringIO
from typing import get_args

import numpy as np
import pytest
from rich.console import Console

from longmatch.matching.hits import Hit, Hits, SectionHit, SectionHits
from longmatch.matching.match import Grid, Match
from longmatch.matching.wording import NoVerdict
from longmatch.render.export import write_table
from longmatch.render.html import render_html
from longmatch.render.json import to_dict
from longmatch.render.notebook import notebook_html
from longmatch.render.terminal import print_ranking, print_sections
from longmatch.render.terminal_match import print_match
from tests.render.html_page import Page

SCORE, PROBABILITY = 0.973, 0.84
NUMBER = re.compile(r"\d*\.\d+|\d+ ?%")
NOTHING = Grid((), (), (), (), np.zeros((0, 0), dtype=np.float32))
REASONS: tuple[NoVerdict | None, ...] = (None, *get_args(NoVerdict))


def printed(show: Callable, subject: object) -> str:
    out = StringIO()
    show(subject, Console(file=out, width=200))
    return out.getvalue()


def shown(html: str) -> str:
    return unescape(re.sub(r"<[^>]*>", " ", html))


def csv_of(hits: Hits | SectionHits) -> str:
    file = StringIO()
    write_table(hits, file)
    return file.getvalue().replace(str(PROBABILITY), "84%")  # a column of its own, for the same thing


@pytest.mark.parametrize("reason", REASONS)
def test_a_ranking_shows_the_probability_and_its_words_or_one_sentence_why_not(pair: Match, reason: NoVerdict | None):
    known = PROBABILITY if reason is None else None
    hits = Hits(Hit(pair.b, SCORE - n / 10, 93.3, (), known, why_not=reason or "model") for n in range(3))
    surfaces = [printed(print_ranking, hits), shown(notebook_html(hits)), csv_of(hits), repr(hits[0]), *hits.remarks]
    for text in surfaces:
        assert set(NUMBER.findall(text)) <= {"84%"}, text
        assert (reason is None) or not NUMBER.search(text)
    assert len(hits.remarks) == (reason is not None)
    for text in surfaces[:2]:
        assert text.count("probably (84%)") == (0 if reason else 3)
        assert sum(" ".join(text.split()).count(sentence) for sentence in hits.remarks) == (reason is not None)


@pytest.mark.parametrize("reason", REASONS)
def test_a_comparison_shows_the_probability_and_its_words_or_one_sentence_why_not(
    pair: Match, reason: NoVerdict | None
):
    known = PROBABILITY if reason is None else None
    bare = replace(pair, sections=NOTHING, grids=None, alignments=(), parts={}, terms=(), score=SCORE)
    match = replace(bare, probability=known, why_not=reason or "model")
    remarks = to_dict(match)["remarks"]
    header = Page.of(render_html(match)).find("header")[0].text
    for text in (printed(print_match, match), header, shown(notebook_html(match))):
        assert set(NUMBER.findall(text)) == (set() if reason else {"84%"}), text
        flat = " ".join(text.split())
        assert ("The two probably belong together" in flat) == (reason is None)
        assert [flat.count(sentence) for sentence in remarks] == ([1] if reason else [])
    assert not NUMBER.search(" ".join([repr(match), *remarks]))


def test_sections_come_in_order_without_a_scale(pair: Match):
    hits = SectionHits(SectionHit(pair.b, n, SCORE - n / 10, pair.alignments[0].b) for n in range(2))
    for text in (printed(print_sections, hits), csv_of(hits)):
        assert str(SCORE) not in text and "0.97" not in text
