"""Meaning and titles, where the calibration gives them weight."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from longmatch.default import rarity
from longmatch.default.calibration import Calibration, Scale
from longmatch.default.encoding import Encoding
from longmatch.default.explanation import Explanation
from longmatch.default.matcher import HybridMatcher
from longmatch.default.space import Space
from longmatch.default.statistics import Statistics
from longmatch.documents import Document, read_text_string
from longmatch.lexical.weights import tfidf
from longmatch.ragged import unit_rows
from tests.library.tiny import made_up_text, tiny_matcher

WEIGHTS = {
    "words": 2.0,
    "phrases": 0.8,
    "meaning": 1.5,
    "title": 0.4,
    "query_title": 0.3,
    "cites_title": 0.6,
}
ALL = Calibration({name: Scale(weight, 0.02, 0.05) for name, weight in WEIGHTS.items()}, slope=0.5, bias=-2.0)


def titled(number: int) -> Document:
    text = made_up_text(number)
    return replace(read_text_string(text, f"d{number}"), title=" ".join(text.split()[1:6]))


@pytest.fixture(autouse=True)
def _titles_count_in_small_collections(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rarity, "TITLED_COLLECTION", (3, 20))


@pytest.fixture(scope="module")
def weighed(tiny_bert: Path) -> HybridMatcher:
    tiny = tiny_matcher(tiny_bert)
    return HybridMatcher(tiny.backbone, replace(tiny.statistics, calibration=ALL))


@pytest.fixture(scope="module")
def made(weighed: HybridMatcher) -> list[Encoding]:
    return weighed.encode([titled(number) for number in range(24)])


def alone(two: list[Encoding], statistics: Statistics) -> Explanation:
    return Explanation.of(*two, rarity.Rarity.of(two, statistics))


def test_a_ranks_score_is_that_of_the_explanation(weighed: HybridMatcher, made: list[Encoding]) -> None:
    query, *others = made
    held = weighed.collect(others)
    explained = [weighed.explain(query, other, held).score for other in others]
    assert weighed.score(query, held).tolist() == pytest.approx(explained, abs=1e-6)


def test_each_side_is_the_cosine_it_says(weighed: HybridMatcher, made: list[Encoding]) -> None:
    a, b = made[:2]
    found = Explanation.of(a, b, weighed.collect(made).rarity)
    assert set(found.similarities) == set(WEIGHTS)
    vectors = np.stack([unit_rows(e.sentence_vectors.vectors.mean(0)) for e in made])
    space = Space.of(vectors, weighed.statistics.space)
    mine, theirs = (unit_rows((vector - space.centre) / space.spread) for vector in vectors[:2])
    assert found.similarities["meaning"][0] == pytest.approx(float(mine @ theirs), abs=1e-6)
    words = [tfidf(e.terms.words.counts, found.rarity.words) for e in (a, b)]
    titles = [tfidf(e.title_words, found.rarity.words) for e in (a, b)]
    assert found.similarities["title"][0] == pytest.approx(words[0].dot(titles[1]))
    assert found.similarities["query_title"][0] == pytest.approx(words[1].dot(titles[0]))
    title = weighed.backbone.encode_texts([b.document.title])[0]
    nearest = max(float(sentence @ title) for sentence in a.sentence_vectors.vectors)
    assert found.similarities["cites_title"][0] == pytest.approx(max(0.0, (nearest - 0.4) / 0.6), abs=1e-6)


def test_two_documents_alone_cannot_tell_whether_titles_say_anything(
    weighed: HybridMatcher, made: list[Encoding]
) -> None:
    sides = alone(made[:2], weighed.statistics).similarities
    assert not {"title", "query_title", "cites_title"} & set(sides)
    there, back = (weighed.explain(*both).score for both in ((made[0], made[1]), (made[1], made[0])))
    assert there == pytest.approx(back)


def test_a_document_without_a_title_is_neither_for_nor_against(weighed: HybridMatcher, made: list[Encoding]) -> None:
    bare = weighed.encode([replace(titled(1), title="")])[0]
    found = Explanation.of(made[0], bare, weighed.collect(made).rarity)
    assert found.similarities["cites_title"][0] == 0


def test_the_probability_does_not_depend_on_what_the_score_weighs(weighed: HybridMatcher, made: list[Encoding]) -> None:
    words_alone = replace(weighed.statistics, calibration=Calibration({"words": Scale(1.0, 0.01, 0.0)}, 1.0, 0.0))
    found = [alone(made[:2], statistics) for statistics in (weighed.statistics, words_alone)]
    assert found[0].probability == found[1].probability and set(found[1].similarities) == {"words"}


def test_parts_name_titles_and_contributions_sum_to_1_without_them(
    weighed: HybridMatcher, made: list[Encoding]
) -> None:
    match = weighed.explain(made[0], made[5])
    assert sum(match.parts.values()) == pytest.approx(1) and match.parts["meaning"] > 0
    assert sum(x.contribution for x in match.alignments) == pytest.approx(1)
    shared = match.parts["words"] + match.parts["phrases"]
    assert sum(x.lexical for x in match.alignments) == pytest.approx(shared / (shared + match.parts["meaning"]))


def test_a_document_with_itself_scores_near_1_though_its_title_is_not_its_text(
    weighed: HybridMatcher, made: list[Encoding]
) -> None:
    assert weighed.explain(made[0], made[0]).score > 0.99


def test_a_side_without_weight_is_not_worked_out(weighed: HybridMatcher, made: list[Encoding]) -> None:
    light = replace(ALL, scales={**ALL.scales, "query_title": Scale(0.0, 0.02, 0.05)})
    found = alone(made[:2], replace(weighed.statistics, calibration=light))
    assert "query_title" not in found.similarities and "query_title" not in found.parts


def test_grids_leave_titles_at_chance(weighed: HybridMatcher, made: list[Encoding]) -> None:
    lighter = {
        name: replace(s, weight=s.weight if name in ("words", "phrases", "meaning") else 0.0)
        for name, s in ALL.scales.items()
    }
    without = replace(weighed.statistics, calibration=replace(ALL, scales=lighter))
    grids = [alone(made[:2], s).grid("sentences").scores for s in (weighed.statistics, without)]
    assert np.allclose(*grids)
