"""Short queries in a language that is not known: how long a document is counts less than a cosine has it."""

from pathlib import Path

import numpy as np
import pytest

from longmatch.default.collection import Collection
from longmatch.default.comparison import LENGTH_SLOPE as SLOPE
from longmatch.default.comparison import length_correction
from longmatch.default.encoding import Encoding
from longmatch.default.matcher import HybridMatcher
from longmatch.documents import Document, read_text_string
from tests.library.tiny import foreign_text, tiny_matcher


def document(number: int, sentences: int) -> Document:
    return read_text_string(foreign_text(number, sentences), f"d{number}")


@pytest.fixture(scope="module")
def matcher(tiny_bert: Path) -> HybridMatcher:
    return tiny_matcher(tiny_bert)


@pytest.fixture(scope="module")
def made(matcher: HybridMatcher) -> list[Encoding]:
    """Thirty documents, short and long."""
    return matcher.encode([document(number, 6 + number) for number in range(30)])


@pytest.fixture(scope="module")
def held(matcher: HybridMatcher, made: list[Encoding]) -> Collection:
    return matcher.collect(made)


@pytest.fixture(scope="module")
def question(matcher: HybridMatcher) -> Encoding:
    return matcher.encode([document(100, 2)])[0]


def test_a_usual_document_is_worth_its_cosine_to_a_short_query_a_longer_one_more_a_shorter_one_less() -> None:
    short, usual, long = length_correction(10, [250, 1000, 4000], 1000.0).tolist()
    assert usual == 1
    assert long == pytest.approx(2 / (1 - SLOPE + SLOPE * 2)) and short == pytest.approx(0.5 / (1 - SLOPE / 2))


def test_a_query_a_quarter_as_long_as_documents_are_takes_cosines_as_they_are() -> None:
    assert length_correction(250, [1, 250, 1000, 4000], 1000.0).tolist() == pytest.approx([1] * 4)


def test_a_few_documents_cannot_tell_what_is_usual(matcher: HybridMatcher, made: list[Encoding]) -> None:
    few = matcher.collect(made[:19]).rarity
    assert few.usual_words == 0
    assert length_correction(10, [250, 1000, 4000], few.usual_words).tolist() == [1] * 3


def test_the_usual_length_is_the_mean(made: list[Encoding], held: Collection) -> None:
    assert held.rarity.usual_words == np.mean([len(e.terms.words.ids) for e in made])


def test_a_ranks_score_is_that_of_the_explanation(
    matcher: HybridMatcher, made: list[Encoding], held: Collection, question: Encoding
) -> None:
    assert "length" in held.rarity.calibration.sides
    explained = [matcher.explain(question, other, held).score for other in made]
    assert matcher.score(question, held).tolist() == pytest.approx(explained, abs=1e-6)


def test_length_is_no_part_of_the_explanation(
    matcher: HybridMatcher, made: list[Encoding], held: Collection, question: Encoding
) -> None:
    match = matcher.explain(question, made[-1], held)
    assert set(match.parts) == {"words", "phrases", "named"} and sum(match.parts.values()) == pytest.approx(1)
    assert sum(x.contribution for x in match.alignments) == pytest.approx(1)


def test_a_short_document_finds_itself_first(matcher: HybridMatcher, made: list[Encoding], question: Encoding) -> None:
    scores = matcher.score(question, matcher.collect([*made, question]))
    assert scores.argmax() == len(made) and scores.max() > 0.9


def test_two_documents_alone_score_the_same_both_ways(
    matcher: HybridMatcher, made: list[Encoding], question: Encoding
) -> None:
    there, back = (matcher.explain(*both).score for both in ((question, made[-1]), (made[-1], question)))
    assert there == pytest.approx(back)
