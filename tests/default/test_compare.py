"""Two documents compared by the default matcher."""

import random
from pathlib import Path

import numpy as np
import pytest

from longmatch.default.calibration import COPY_MARGIN
from longmatch.default.collection import Collection
from longmatch.default.encoding import Encoding
from longmatch.default.explanation import Explanation
from longmatch.default.matcher import HybridMatcher
from longmatch.default.rarity import Rarity
from longmatch.documents import Document, Draft, read_text_string
from longmatch.documents.language import words_of
from longmatch.matching.match import Coverage
from longmatch.render.json import to_dict
from tests.conftest import EXAMPLES

PEARS, ORCHARD, CRICKET = "pear-block-season-trial.md", "when-to-water-fruit-trees.html", "given-out-column.md"
PLAIN_FILES = ("wheatear-logger-study.txt", PEARS)  # a text and a Markdown file
UNLIKE = (
    "The harbour office wants the northern channel dredged before winter, as larger ships cannot enter at low tide.",
    "Rye bread needs patience: rest the dough overnight, fold it twice, and bake it hot until the crust cracks.",
)


@pytest.fixture(scope="module")
def match(matcher, encodings):
    return matcher.explain(encodings[PEARS], encodings[ORCHARD])


def reordered(document: Document, seed: int) -> Document:
    """The same sections in another order."""
    sections = list(document.sections)
    random.Random(seed).shuffle(sections)
    draft = Draft()
    for section in sections:
        draft.heading(section.heading)
        for paragraph in section.paragraphs:
            draft.paragraph(paragraph.of(document.readable), paragraph.kind)
    return draft.document(document.id, document.title)


@pytest.mark.parametrize("name", [PEARS, "tower-repair-report.pdf", "calder-vale-failure-review.docx"])
def test_a_document_scores_1_with_itself(matcher, examples, name):
    assert matcher.compare(examples[name], examples[name]).score == pytest.approx(1, abs=1.1 * COPY_MARGIN)


def test_every_example_scores_1_with_itself(matcher, encodings):
    assert all(matcher.explain(e, e).score == pytest.approx(1, abs=1.1 * COPY_MARGIN) for e in encodings.values())


def test_every_example_almost_certainly_belongs_to_itself(matcher, encodings):
    assert all(matcher.explain(e, e).probability > 0.99 for e in encodings.values())


def probability(matcher: HybridMatcher, a: Encoding, b: Encoding) -> float:
    """Whether or not it can be believed."""
    return Explanation.of(a, b, Rarity.of([a, b], matcher.statistics)).probability


def test_related_documents_are_eight_times_as_likely_to_belong_together_as_unrelated_ones(matcher, encodings):
    unrelated, related = (probability(matcher, encodings[PEARS], encodings[name]) for name in (CRICKET, ORCHARD))
    assert unrelated < 0.05 and related > 8 * unrelated


@pytest.mark.parametrize(
    ("added", "most"), [(("", ""), 0.15), ((" Kowalczewski signed the order.", " Kowalczewski baked the first."), 0.7)]
)
def test_short_texts_that_share_nothing_or_a_rare_name_alone_are_not_taken_for_related(matcher, added, most):
    a, b = (read_text_string(text + more, name) for text, more, name in zip(UNLIKE, added, "ab", strict=True))
    assert matcher.compare(a, b).no_verdict == "question"
    assert 0 < probability(matcher, *matcher.encode([a, b])) < most


def test_the_probability_is_the_shipped_one_of_the_sides(matcher, encodings):
    a, b = encodings[PEARS], encodings[ORCHARD]
    rarity, shipped = Rarity.of([a, b], matcher.statistics), matcher.statistics.probability
    sides = Collection([b], rarity).similarities(a, ("words", "phrases", "meaning", "named"))
    words = np.array([float(a.words)]), np.array([float(b.words)])
    assert probability(matcher, a, b) == pytest.approx(shipped.of(sides, words, rarity.unrelated)[0])


def test_the_order_of_two_documents_does_not_matter(matcher, encodings, match):
    back = matcher.explain(encodings[ORCHARD], encodings[PEARS])
    assert match.score == pytest.approx(back.score, abs=1e-9)
    there, again = (probability(matcher, encodings[a], encodings[b]) for a, b in ((PEARS, ORCHARD), (ORCHARD, PEARS)))
    assert there == pytest.approx(again, abs=1e-6)
    assert np.allclose(match.sections.scores, back.sections.scores.T, atol=1e-6)
    assert (match.sections.rows, match.sections.columns) == (back.sections.columns, back.sections.rows)
    assert pytest.approx(back.at("chunks").scores, abs=1e-6) == match.at("chunks").scores.T


@pytest.mark.parametrize("other", [ORCHARD, CRICKET])
def test_the_order_of_the_sections_hardly_changes_the_score(matcher, examples, match, other):
    original = matcher.compare(examples[PEARS], examples[other]).score
    for seed in (1, 2):
        shuffled = matcher.compare(reordered(examples[PEARS], seed), examples[other]).score
        assert abs(shuffled - original) < 0.02


def test_everything_is_read(match):
    assert match.coverage == Coverage(1.0, 1.0)


def test_contributions_sum_to_1_with_their_lexical_part_inside(match):
    assert sum(x.contribution for x in match.alignments) == pytest.approx(1)
    assert all(0 <= x.lexical <= x.contribution + 1e-12 and 0 <= x.score <= 1 for x in match.alignments)
    assert {x.kind for x in match.alignments} == {"keyword", "meaning"}


def test_the_shares_of_the_sides_sum_to_1(match):
    assert set(match.parts) == {"words", "phrases", "meaning", "named"}
    assert sum(match.parts.values()) == pytest.approx(1)


def test_passages_are_the_characters_they_say_under_the_heading_they_name(match):
    for x in match.alignments:
        for passage, document in ((x.a, match.a), (x.b, match.b)):
            assert passage.text == document.text[passage.start : passage.end]
            home = next(s for s in document.sections if s.start <= passage.start < s.end)
            assert passage.section == home.heading


def test_passages_of_text_and_markdown_files_are_the_characters_of_the_file(matcher, encodings):
    match = matcher.explain(*(encodings[name] for name in PLAIN_FILES))
    files = [Path(EXAMPLES / "collection" / name).read_bytes().decode("utf-8") for name in PLAIN_FILES]
    assert match.alignments
    for x in match.alignments:
        assert files[0][x.a.start : x.a.end] == x.a.text
        assert files[1][x.b.start : x.b.end] == x.b.text


def test_grids_have_a_cell_for_every_pair_of_groups_and_no_score_outside_0_to_1(match, encodings):
    for level in ("sections", "chunks", "sentences"):
        grid = match.at(level)
        groups = [encodings[name].sentences.groups(level) for name in (PEARS, ORCHARD)]
        assert grid.scores.shape == tuple(len(g.labels) for g in groups)
        assert (grid.rows, grid.columns) == tuple(g.labels for g in groups)
        assert grid.scores.min() >= 0 and grid.scores.max() <= 1
    assert match.passages.scores.shape == (len(encodings[PEARS]), len(encodings[ORCHARD]))
    assert len(match.sections.rows) < len(match.at("chunks").rows) < len(match.passages.rows)


def test_passages_of_unrelated_documents_score_near_0(matcher, encodings):
    assert np.median(matcher.explain(encodings[PEARS], encodings[CRICKET]).passages.scores) < 0.1


def test_a_documents_sections_score_1_with_themselves(matcher, encodings):
    grid = matcher.explain(encodings[PEARS], encodings[PEARS]).sections
    assert np.diag(grid.scores) == pytest.approx(1, abs=1e-5)


def test_keywords_are_words_of_both_documents_and_say_what_they_are_about(match):
    texts = [" ".join(words_of(document.readable)) for document in (match.a, match.b)]
    words = [term.text for term in match.terms]
    assert words and all(word in text for word in words for text in texts)
    assert {"irrigation", "trees", "soil", "water", "fruit"} & set(" ".join(words).split())
    assert 0 < sum(term.share for term in match.terms) <= 1


def test_the_words_of_an_alignment_stand_in_both_passages(match):
    assert any(x.words for x in match.best(20))
    for x in match.alignments:
        assert all(word in x.a.text.lower() and word in x.b.text.lower() for word in x.words)


def test_the_meaning_does_not_depend_on_what_else_is_encoded(matcher, examples, encodings):
    alone = HybridMatcher().compare(examples[PEARS], examples[ORCHARD]).score  # a backbone that remembers nothing
    assert alone == pytest.approx(matcher.explain(encodings[PEARS], encodings[ORCHARD]).score, abs=2e-3)


SHORT = {
    "english": "The bank closed its doors yesterday.",
    "english too": "Yesterday the bank closed its doors for good.",
    "weather": "Snow is expected on the northern hills.",
    "chinese": "银行今天倒闭了。存户排队取钱。",
    "chinese too": "昨天银行倒闭了。存户很担心。",
    "chinese weather": "明天北方山区有雪。",
    "chinese cat": "我喜欢猫。",
    "german": "Die Bank hat gestern ihre Türen geschlossen.",
}


@pytest.fixture(scope="module")
def short(matcher: HybridMatcher):
    documents = {name: read_text_string(text, name) for name, text in SHORT.items()}
    return lambda a, b: matcher.compare(documents[a], documents[b])


@pytest.mark.parametrize("name", SHORT)
def test_a_document_of_one_or_two_sentences_scores_1_with_itself(short, name):
    match = short(name, name)
    assert match.score == pytest.approx(1, abs=1.1 * COPY_MARGIN)
    assert sum(x.contribution for x in match.alignments) == pytest.approx(1)


@pytest.mark.parametrize(
    ("a", "same", "other"), [("english", "english too", "weather"), ("chinese", "chinese too", "chinese weather")]
)
def test_short_documents_of_one_subject_score_high_and_of_two_much_lower(short, a, same, other):
    assert short(a, same).score > 0.5
    assert short(a, other).score < 0.4 * short(a, same).score


def test_documents_in_two_languages_compare(short):
    match = short("english", "german")
    assert 0 < match.score < 1
    assert match.score > short("weather", "german").score


def test_documents_that_share_no_word_have_no_keywords_and_no_lexical_part(short):
    match = short("english", "chinese weather")
    assert match.score < 0.25
    assert match.terms == () and all(x.lexical == 0 and x.words == () for x in match.alignments)


def test_the_json_of_a_match_lists_every_alignment(match):
    found = to_dict(match)
    assert len(found["passages"]) == len(match.alignments)
    assert sum(x["contribution"] for x in found["passages"]) == pytest.approx(1)
