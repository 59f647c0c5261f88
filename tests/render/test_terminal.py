from dataclasses import replace
from io import StringIO

import pytest
from rich.console import Console

from longmatch.documents import read
from longmatch.matching.hits import Hit, Hits
from longmatch.matching.match import Alignment, Coverage
from longmatch.render.terminal import print_ranking, print_structure
from longmatch.render.terminal_match import print_match
from tests.render.render_matches import COLLECTION, long_document, made, matched
from tests.reuse.texts import random_words


def printed(show, subject, width: int = 100, colours: bool = False) -> str:
    out = StringIO()
    console = Console(file=out, width=width, force_terminal=colours, color_system="truecolor" if colours else None)
    show(subject, console)
    return out.getvalue()


def hit(id: str, title: str, score: float, why: tuple[Alignment, ...], probability: float | None = None) -> Hit:
    return Hit(made(title, {"One": ["Rain."]}, id), score, 50.0, why, probability)


@pytest.mark.parametrize("width", [80, 160])
def test_a_match_fits_its_width_and_names_every_section(pair, width):
    text = printed(print_match, pair, width)
    assert max(map(len, text.splitlines())) <= width
    flat = " ".join(text.split())
    for number, column in enumerate(pair.sections.columns, 1):
        assert f"B{number} {column}" in flat
    for number, row in enumerate(pair.sections.rows, 1):
        assert f"A{number} {row[:30]}" in flat


@pytest.mark.parametrize("width", [80, 160])
def test_a_match_tells_verdict_parts_words_and_passages(pair, width):
    flat = " ".join(printed(print_match, pair, width).split())
    assert "The two may belong together (probability: 31%)." in flat and "0.42" not in flat.partition("Based on")[0]
    assert "Based on 57% meaning, 31% shared words and 12% shared phrases." in flat
    assert f"Shared words that weigh most: {pair.terms[0].text}, {pair.terms[1].text}" in flat
    assert "1. same meaning, 7.6% of the match" in flat and "2. same words, 7.6% of the match" in flat
    assert f"({len(pair.alignments) - 5} more not shown)" in flat


def test_a_pair_in_other_words_is_marked_and_one_that_is_no_evidence_is_not_printed(pair):
    first, second, *rest = pair.alignments
    silent = [replace(other, evidence=False) for other in rest]
    made = replace(pair, alignments=(replace(first, paraphrase=True), second, *silent))
    flat = " ".join(printed(print_match, made, 120).split())
    assert "1. same meaning, other words, " in flat and "2. same words, " in flat
    assert "3. same" not in flat and "more not shown" not in flat


def test_every_score_of_the_matrix_is_printed(pair):
    lines = printed(print_match, pair, 120).splitlines()
    for number, scores in enumerate(pair.sections.scores, 1):
        line = next(line for line in lines if line.startswith(f"A{number} "))
        cells = [0.0 if cell == "·" else float(cell) for cell in line.split()[-len(scores) :]]
        assert cells == pytest.approx(scores.tolist(), abs=0.0051) and "0.00" not in line


def test_without_a_terminal_there_are_no_control_sequences(pair):
    assert "\x1b" not in printed(print_match, pair)


def test_shared_words_are_bold_in_a_terminal(pair):
    assert "\x1b[1mmillimetres\x1b[0m" in printed(print_match, pair, 160, colours=True)


def test_the_strongest_cell_has_the_darkest_ground(pair):
    assert "48;2;18;63;104m0.66" in printed(print_match, pair, 160, colours=True).replace(" ", "")


def test_a_large_matrix_shows_the_strongest_and_says_what_it_left_out():
    match = matched(long_document(6_000, 300, "one"), long_document(6_000, 300, "two"))
    text = printed(print_match, match, 80)
    assert "Left out, weaker than those shown: 276 of 300 rows and 289 of 300 columns." in " ".join(text.split())
    assert max(map(len, text.splitlines())) <= 80
    assert "0.66" in text


@pytest.mark.parametrize("new", [1, 14])
def test_no_section_that_is_new_or_gone_is_left_out_of_the_matrix_of_two_versions(new):
    kept = {f"Clause {n}": [" ".join(random_words(n, 40)) + "."] for n in range(12)}
    others = {f"Annex {n}": [" ".join(random_words(100 + n, 20)) + "."] for n in range(new)}
    short, long = made("Short", kept, "a"), made("Long", {**kept, **others}, "b")
    for a, b, side in ((short, long, "B"), (long, short, "A")):
        shown = printed(print_match, matched(a, b), 80).split("What changed")[0]
        assert all(f"{side}{13 + n} Annex {n}" in " ".join(shown.split()) for n in range(new))


def test_within_one_document_there_is_no_score_and_no_diagonal():
    document = read(COLLECTION / "pear-block-season-trial.md")
    text = printed(print_match, matched(document, document, 1.0))
    assert "Its sections against each other." in text and "belong" not in text and "1.00" not in text
    assert "Based on" not in text


def test_a_document_read_in_part_is_said_to_be(pair):
    flat = " ".join(printed(print_match, replace(pair, coverage=Coverage(1.0, 0.5))).split())
    assert f"Only 50% of “{pair.b.title}” was read." in flat


def test_a_match_without_a_verdict_says_why_and_has_no_bar(pair):
    flat = " ".join(printed(print_match, replace(pair, probability=None, why_not="kind"), 80).split())
    assert "Whether the two belong together cannot be said: it takes more documents of their kind" in flat
    assert "█" not in flat and "░" not in flat and "probability" not in flat


def test_a_match_of_nothing_distinctive_says_so_above_the_passages(pair):
    text = printed(print_match, replace(pair, probability=0.1, score=0.02))
    said = text.index("Nothing beyond what such documents always share.")
    assert said < text.index("The passages that say most")
    assert "Nothing beyond" not in printed(print_match, replace(pair, probability=0.1, score=0.2))


def test_a_match_without_alignments_says_so():
    match = matched(made("A", {"One": ["Rain."]}), made("B", {"Two": ["Sun."]}), 0.0)
    assert "No passage of one answers a passage of the other." in printed(print_match, match)


def test_square_brackets_are_shown_and_commands_to_the_terminal_are_not():
    a = made("[bold]Title[/bold] \x1b[2J", {"[red]One \x1b]0;x\x07": ["Water the orchard \x1b[31m[link=x]twice."]})
    text = printed(print_match, matched(a, a))
    assert "\x1b" not in text and "\x07" not in text
    assert "[bold]Title[/bold]" in text and "[red]One" in text
    assert "\x1b" not in printed(print_structure, a)


def test_chinese_labels_keep_the_columns_level():
    a = made("水", {"关于果园灌溉的一些想法和一些很长很长的标题": ["果园需要水。"], "二": ["水很重要。"]})
    lines = printed(print_match, matched(a, made("B", {"水": ["果园需要水。"]})), 60).splitlines()
    rows = [line for line in lines if line.startswith(("A1 ", "A2 "))]
    console = Console(width=60)
    assert len({console.measure(row.rstrip()).maximum for row in rows}) == 1


def test_a_very_long_passage_is_cut_with_the_number_of_characters_left_out():
    a = made("A", {"One": ["orchard " * 400]})
    assert "characters more)" in " ".join(printed(print_match, matched(a, made("B", {"One": ["An orchard."]}))).split())


def test_a_ranking_without_verdicts_lists_hits_in_order_with_a_bar_of_their_place_and_a_passage(pair):
    hits = Hits(hit(f"{n}.md", f"Title {n}", 0.9 - n / 10, pair.best(2)) for n in range(12))
    text = printed(print_ranking, hits)
    assert [text.index(f"Title {n}\n") for n in range(12)] == sorted(text.index(f"Title {n}\n") for n in range(12))
    assert " 1. ━━━━━━━━━━━━  Title 0" in text and "12. ━┈┈┈┈┈┈┈┈┈┈┈  Title 11" in text
    assert text.startswith("Whether these belong with it cannot be said, only which come first: this model's scores")
    assert not any(sign in text for sign in ("%", "0.9", "█"))
    assert " ".join(pair.best(1)[0].b.text.split())[:40] in " ".join(text.split())


def test_each_hit_of_a_ranking_says_how_likely_it_belongs_and_its_bar_says_the_same(pair):
    likely = [0.999, 0.8, 0.43, 0.12, 0.001]
    long = "A title as long as they are in proceedings, where each author wants to say everything at once"
    hits = Hits(hit(f"{n}.md", f"{n} {long}", 0.1, pair.best(1), p) for n, p in enumerate(likely))
    text = printed(print_ranking, hits, 80)
    lines = text.splitlines()
    assert max(map(len, lines)) <= 80
    assert [line for line in lines if "█" in line or "░" in line] == [
        "1. ████████████  almost certainly (above 99%)",
        "2. ██████████░░  probably (80%)",
        "3. █████░░░░░░░  may (43%)",
        "4. █░░░░░░░░░░░  probably not (12%)",
        "5. ░░░░░░░░░░░░  almost certainly not (below 1%)",
    ]
    assert all(f"{n} {long}" in " ".join(text.split()) for n in range(5))
    assert "Nothing here shares" not in text and "0.1" not in text


def test_a_ranking_of_nothing_close_says_so_first(pair):
    hits = Hits(hit(f"{n}.md", f"Title {n}", 0.02, pair.best(1), 0.2 - n / 10) for n in range(2))
    first, blank, head, *_ = printed(print_ranking, hits, 80).splitlines()
    assert first == "Nothing here shares more than such documents always do; the closest are listed."
    assert blank == "" and head == "1. ██░░░░░░░░░░  probably not (20%)"


def test_a_hit_shows_the_passage_of_the_query_and_the_one_that_answers_it(pair):
    text = printed(print_ranking, Hits([hit("1.md", "Title", 0.9, pair.best(1))]), 400)
    best = pair.best(1)[0]
    said = [f"{side} “{' '.join(passage.shown.split())}”" for side, passage in (("query", best.a), ("match", best.b))]
    assert all(words in text for words in said)


def test_an_empty_ranking_says_so():
    assert printed(print_ranking, Hits()) == "Nothing found.\n"


@pytest.mark.parametrize("width", [80, 160])
def test_a_structure_tells_title_words_language_sections_and_kinds(width):
    document = read(COLLECTION / "pear-block-season-trial.md")
    flat = " ".join(printed(print_structure, document, width).split())
    assert document.title in flat and f"{document.words:,} words, 7 sections, English" in flat
    for section in document.sections:
        sentences = sum(len(p.sentences) for p in section.paragraphs)
        noun = "sentence" if sentences == 1 else "sentences"
        assert f"{section.heading} {len(section.paragraphs)} paragraph" in flat
        assert f", {sentences} {noun}" in flat
    assert "1 table (not scored)" in flat


def test_a_structure_nests_sections_by_level():
    lines = printed(print_structure, read(COLLECTION / "pear-block-season-trial.md")).splitlines()
    assert sum(line.startswith(("├── ", "└── ")) for line in lines) == 6
