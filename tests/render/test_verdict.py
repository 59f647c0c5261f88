"""What is said of two documents, and where nothing can be."""

from dataclasses import replace

import pytest

from longmatch.matching.hits import Hit
from longmatch.matching.wording import likelihood, ranking_remarks
from longmatch.render.json import to_dict
from longmatch.render.wording import nothing_distinctive, remarks, verdict


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


@pytest.mark.parametrize(
    ("reason", "why"),
    [
        ("model", "this model's scores are not calibrated"),
        ("languages", "the model cannot compare two languages with each other; --backbone multilingual can"),
        ("language", "longmatch has no statistics of their language"),
        ("question", "a text this short says too little"),
        ("kind", "it takes more documents of their kind, in one folder or library"),
    ],
)
def test_where_nobody_can_say_there_is_no_verdict_and_one_sentence_says_why(pair, reason, why):
    unsaid = replace(pair, probability=None, why_not=reason)
    assert (verdict(unsaid), unsaid.no_verdict, unsaid.relation) == (None, reason, None)
    assert remarks(unsaid) == [f"Whether the two belong together cannot be said: {why}."]
    assert remarks(replace(unsaid, b=replace(unsaid.a, id="copy"))) == []  # the same words say what they are
    assert remarks(pair) == [] and pair.no_verdict is None
    hits = [Hit(pair.b, 0.9, 99.0, why_not=reason)] * 3
    assert ranking_remarks(hits) == [f"Whether these belong with it cannot be said, only which come first: {why}."]


def test_a_threshold_that_a_model_was_trained_with_is_a_verdict_without_a_number(pair):
    trained = replace(pair, measured=False, probability=0.999, threshold=0.5)
    assert verdict(replace(trained, score=0.9)) == "By this model's threshold the two belong together"
    assert verdict(replace(trained, score=0.4)) == "By this model's threshold the two do not belong together"
    assert remarks(trained) == [] and verdict(replace(trained, threshold=None)) is None


@pytest.mark.parametrize(
    ("probability", "score", "said"),
    [(0.29, 0.049, True), (0.30, 0.049, False), (0.29, 0.05, False), (None, 0.0, False)],
)
def test_two_that_share_nothing_distinctive_are_said_to(pair, probability, score, said):
    match = replace(pair, probability=probability, score=score)
    assert nothing_distinctive(match) == ("Nothing beyond what such documents always share." if said else "")
    assert nothing_distinctive(replace(match, measured=False)) == ""  # such a score has a scale of its own


def test_a_ranking_in_which_nothing_may_belong_says_so(pair):
    def said(*likely):
        return ranking_remarks(Hit(pair.b, 0.9, 99.0, probability=p) for p in likely)

    sentence = "Nothing here shares more than such documents always do; the closest are listed."
    assert said(0.29, 0.0) == [sentence] and said(0.0, 0.30) == said() == []
    (some,) = said(None, 0.1)  # what is not known may belong
    assert some.startswith("Whether some of these belong with it cannot be said")


def test_json_says_what_the_page_says(pair):
    found = to_dict(replace(pair, probability=0.2, score=0.01))
    assert (found["verdict"], found["no_verdict"]) == ("The two probably do not belong together", None)
    assert found["remarks"] == ["Nothing beyond what such documents always share."]
    unsaid = to_dict(replace(pair, probability=None, why_not="kind"))
    assert (unsaid["verdict"], unsaid["no_verdict"], unsaid["probability"]) == (None, "kind", None)
    assert unsaid["score"] == 0.42 and len(unsaid["remarks"]) == 1
