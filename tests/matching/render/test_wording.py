"""The plain words in which a match is told."""

from dataclasses import replace

import pytest

from longmatch.matching.render.wording import likelihood, nothing_distinctive, ranking_remarks, remarks, verdict


@pytest.mark.parametrize(
    ("probability", "words"),
    [
        (1.0, "The two almost certainly belong together"),
        (0.95, "The two almost certainly belong together"),
        (0.94, "The two probably belong together"),
        (0.70, "The two probably belong together"),
        (0.69, "The two may belong together"),
        (0.30, "The two may belong together"),
        (0.29, "The two probably do not belong together"),
        (0.05, "The two probably do not belong together"),
        (0.04, "The two almost certainly do not belong together"),
        (0.0, "The two almost certainly do not belong together"),
    ],
)
def test_the_verdict_goes_by_the_probability_and_not_by_the_score(pair, probability, words):
    for score in (0.0, 0.42, 1.0):
        assert verdict(replace(pair, score=score, probability=probability)) == words


@pytest.mark.parametrize(
    ("probability", "words"),
    [
        (0.95, "almost certainly"),
        (0.70, "probably"),
        (0.30, "may"),
        (0.29, "probably not"),
        (0.05, "probably not"),
        (0.04, "almost certainly not"),
    ],
)
def test_a_list_says_in_short_what_the_verdict_says(pair, probability, words):
    assert likelihood(probability) == words
    sentence = verdict(replace(pair, probability=probability)).replace(" do not", "")
    assert sentence == f"The two {words.removesuffix(' not')} belong together"


def test_a_kind_of_document_without_statistics_is_said_to_be_less_certain(pair):
    unknown = replace(pair, known_kind=False)
    assert remarks(pair) == []
    assert remarks(unknown) == [
        "longmatch does not know this kind of document well, so this is less certain; "
        "index a folder of such documents to be surer."
    ]
    assert remarks(replace(unknown, probability=None)) == []  # then there is nothing to be sure of
    assert remarks(replace(unknown, b=replace(unknown.a, id="copy"))) == []  # the same words are certain


@pytest.mark.parametrize(
    ("probability", "score", "said"),
    [(0.29, 0.049, True), (0.30, 0.049, False), (0.29, 0.05, False), (None, 0.0, False)],
)
def test_two_that_share_nothing_distinctive_are_said_to(pair, probability, score, said):
    match = replace(pair, probability=probability, score=score)
    assert nothing_distinctive(match) == ("Nothing beyond what such documents always share." if said else "")
    assert nothing_distinctive(replace(match, measured=False)) == ""  # such a score has a scale of its own


def test_a_ranking_in_which_nothing_may_belong_says_so():
    sentence = "Nothing here shares more than such documents always do; the closest are listed."
    assert ranking_remarks([0.29, 0.0]) == ranking_remarks([None, 0.1]) == [sentence]
    assert ranking_remarks([0.0, 0.30]) == ranking_remarks([None]) == ranking_remarks([]) == []


def test_json_says_what_the_page_says(pair):
    found = replace(pair, known_kind=False, probability=0.2, score=0.01).to_dict()
    assert found["verdict"] == "The two probably do not belong together" and found["known_kind"] is False
    assert [sentence.split()[0] for sentence in found["remarks"]] == ["longmatch", "Nothing"]
    assert pair.to_dict()["known_kind"] and pair.to_dict()["remarks"] == []


def test_of_two_languages_the_model_says_that_it_cannot_tell(pair):
    german = replace(pair, a=replace(pair.a, language="de"), b=replace(pair.b, language="en"), comparable=False)
    found = replace(german, probability=0.02, score=0.0).to_dict()
    assert found["verdict"] == "The model cannot tell whether the two belong together"
    assert found["remarks"] == [
        "They are in German and English, which it cannot compare with each other; --backbone multilingual can."
    ]
    assert verdict(replace(german, probability=0.9)) == "The two probably belong together"
