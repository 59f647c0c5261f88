"""Answers of language models as they come."""

import pytest

from longmatch.models.llm.judge import parse_answer


@pytest.mark.parametrize(
    ("text", "score"),
    [
        ('{"together": true, "score": 85}', 0.85),
        ('```json\n{"score": 0, "together": false}\n```', 0.0),
        ('Sure! {"note": "x"} Here: {"score": "72"} Anything else?', 0.72),
        ('{"score": 0.85}', 0.85),
        ('{"score": 1.0}', 1.0),
        ('{"score": 1}', 0.01),
        ('{"together": true}', 1.0),
        ('{"together": false, "score": null}', 0.0),
        ('<think>Maybe {"score": 3}? No: 2 of 7.</think>{"score": 64}', 0.64),
        ("Score: 40", 0.4),
        ("**Score:** 40 of the documents' 3 sections agree", 0.4),
        ("Of 2 documents I would rate this pair 90/100.", 0.9),
        ("About 35 out of 100.", 0.35),
        ("They match by 60%.", 0.6),
        ("77", 0.77),
        ("I think 12.5 fits.", 0.125),
        ("Yes.", 1.0),
        ("**No**, they differ.", 0.0),
        ("yes, both are about bank runs", 1.0),
    ],
)
def test_a_score_is_found_however_it_is_put(text, score):
    assert parse_answer(text) == pytest.approx(score)


@pytest.mark.parametrize(
    "text",
    ["I'm sorry, but I can't help with that.", "I cannot compare these 2 documents.", "As an AI, I must decline."],
)
def test_a_refusal_is_not_taken_for_a_score(text):
    assert parse_answer(text) == "refused"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Both are long.",
        "Between 20 and 70.",
        "150",
        "-5",
        "Score: -5",
        "1,000",
        '{"score": 101}',
        '{"score": -1}',
        '{"score": NaN}',
        '{"score": true}',
        '{"score": [80]}',
        "{" * 5000,
        '{"a":' * 5000,
        "<think>still thinking about 80",
        "Notwithstanding",
    ],
)
def test_what_says_nothing_is_unreadable(text):
    assert parse_answer(text) == "unreadable"
