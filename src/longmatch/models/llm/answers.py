"""What a language model's answer says: a score, a refusal, or nothing that can be read."""

import json
import re
from collections.abc import Iterator
from typing import Any, Literal

Unjudged = Literal["refused", "unreadable"]

_LONGEST = 20_000  # characters of an answer that are looked at
_THOUGHT = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL | re.IGNORECASE)
_REFUSAL = re.compile(
    r"\b(?:i(?:'m| am) (?:sorry|unable|not able)|i (?:cannot|can['’]?t|can not|won['’]?t|must decline)|as an ai)\b",
    re.IGNORECASE,
)
_NUMBER = r"(?<![\d.,-])(\d{1,3}(?:\.\d+)?)(?![\d]|[.,]\d)"
_STATED = (
    re.compile(r"\b(?:score|rating)\b[^\d\n-]{0,30}" + _NUMBER, re.IGNORECASE),
    re.compile(_NUMBER + r"\s*(?:/|out of)\s*100\b", re.IGNORECASE),
    re.compile(_NUMBER + r"\s*%"),
)
_YES_NO = re.compile(r"\W*(?:(yes|true)|(no|false))\b", re.IGNORECASE)


def parse_answer(text: str) -> float | Unjudged:
    """The score from 0 to 1: from JSON, else a number in the text, else yes or no.

    >>> parse_answer('Sure. {"together": true, "score": 85}'), parse_answer("I would say 40 out of 100.")
    (0.85, 0.4)
    >>> parse_answer("No."), parse_answer("I'm sorry, but I can't compare these."), parse_answer("Well, 1 or 2?")
    (0.0, 'refused', 'unreadable')
    """
    text = _THOUGHT.sub("", text.replace("’", "'"))[:_LONGEST].strip()
    for found in _objects(text):
        if "score" in found or "together" in found:
            score = _of_object(found)
            return "unreadable" if score is None else score
    if _REFUSAL.search(text):
        return "refused"
    score = _in_prose(text)
    if score is not None:
        return score
    word = _YES_NO.match(text)
    return "unreadable" if word is None else float(bool(word[1]))


def _objects(text: str) -> Iterator[dict[str, Any]]:
    """The JSON objects in a text."""
    decoder, start = json.JSONDecoder(), text.find("{")
    while start >= 0:
        end = start + 1
        try:
            found, end = decoder.raw_decode(text, start)
            yield found
        except (ValueError, RecursionError):
            pass
        start = text.find("{", end)


def _of_object(found: dict[str, Any]) -> float | None:
    """A score of 0 to 100; a decimal fraction up to 1 counts as such. Without a score, whether they belong together."""
    value = found.get("score")
    if isinstance(value, str):
        return _in_prose(value)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return _share(value)
    together = found.get("together")
    return float(together) if isinstance(together, bool) else None


def _in_prose(text: str) -> float | None:
    """The number that is called the score, or the only one in the text."""
    for pattern in _STATED:
        if stated := pattern.search(text):
            return _share(_number(stated[1]))
    numbers = re.findall(r"-?\d[\d.,]*", text)
    only = re.search(_NUMBER, text) if len(numbers) == 1 else None
    return _share(_number(only[1])) if only else None


def _number(digits: str) -> int | float:
    return float(digits) if "." in digits else int(digits)


def _share(value: int | float) -> float | None:
    """A score as a share of 100; None outside 0 to 100.

    >>> _share(85), _share(0.85), _share(1), _share(101), _share(float("nan"))
    (0.85, 0.85, 0.01, None, None)
    """
    if not 0 <= value <= 100:
        return None
    return float(value) if isinstance(value, float) and value <= 1 else value / 100
