"""The page that shows two versions as one text."""

import re
from dataclasses import replace

from longmatch.matching.match import Match
from longmatch.render.html import render_html, render_redline
from tests.render.render_matches import made, matched
from tests.reuse.texts import random_words


def page_of(a: dict[str, list[str]], b: dict[str, list[str]]) -> tuple[Match, str]:
    match = matched(made("First", a, "a"), made("Second", b, "b"))
    return match, render_redline(match)


def paragraph(seed: int, words: int = 40) -> str:
    return " ".join(random_words(seed, words)) + "."


def test_insertions_and_deletions_are_marked_by_word():
    _, page = page_of(
        {"Rent": ["The tenant shall pay the rent of May in advance."]},
        {"Rent": ["The tenant shall pay the rent of June in advance."]},
    )
    assert "rent of <del>May</del> <ins>June</ins> in advance." in page


def test_both_ends_of_a_move_lead_to_each_other():
    one, two = paragraph(1, 80), paragraph(2)
    _, page = page_of({"A": [one, two]}, {"A": [two, one]})
    assert re.search(r'<del class="moved" id="away-1"><a href="#here-1"', page)
    assert re.search(r'<ins class="moved" id="here-1"><a href="#away-1"', page)


def test_unchanged_paragraphs_are_folded_away_but_there():
    texts = [paragraph(n) for n in range(9)]
    _, page = page_of({"A": texts}, {"A": [*texts[:-1], texts[-1].replace("a", "e", 1)]})
    assert "7 unchanged paragraphs</summary>" in page
    assert all(text in page for text in texts[:-1])


def test_the_page_loads_nothing_and_runs_nothing():
    _, page = page_of({"A": ["<script>alert(1)</script> one two three."]}, {"A": ["<img src=x> one two three."]})
    assert "<script" not in page and "<img" not in page and "default-src" in page
    assert not re.findall(r"https?://|url\(", page)


def test_the_sections_and_their_changes_are_listed():
    kept, new = paragraph(1), paragraph(2)
    _, page = page_of({"Kept": [kept]}, {"Kept": [kept], "New": [new]})
    assert '<tr class="added"><th scope="row" dir="auto">New</th>' in page
    assert "41 words added" in page


def test_a_comparison_page_shows_the_text_that_both_have():
    shared = paragraph(5, 60)
    a = made("First", {"A": [paragraph(1, 200), shared]}, "a")
    b = made("Second", {"B": [paragraph(2, 200), shared]}, "b")
    page = render_html(matched(a, b))
    assert "The same text in both" in page and "of A (60 words) stands word for word in B" in page
    assert 'class="verbatim"' in page or " verbatim s" in page
    common = render_html(replace(matched(a, b), is_common=lambda text: True))
    assert "60 words of A stand in B and in many documents of the collection" in common
