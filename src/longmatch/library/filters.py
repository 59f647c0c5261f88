"""Filter conditions: names in a user's condition that are not columns become lookups in the metadata."""

import re
from collections.abc import Iterator

COLUMNS = frozenset({"id", "title", "language", "words", "source"})
_KEYWORDS = frozenset(
    ["and", "or", "not", "in", "is", "null", "like", "between", "true", "false", "ilike", "escape", "contains"]
)
_TOKEN = re.compile(r"'(?:[^']|'')*'|[^\W\d]\w*(?:\.\w+)*\s*\(?|\d+(?:\.\d+)?|[^\w\s']+|\s+|'")
_LIKE_SIGNS, _ESCAPED = re.compile(r"[%_\\]"), r"\\\g<0>"
_TEXT = re.compile(r"'(?:[^']|'')*'")
_CALL = re.compile(r"([^\W\d][\w.]*)\s*\(")
_BEFORE_A_BRACKET = frozenset({"and", "or", "not", "in"})
_NAME = re.compile(r"[^\W\d]\w*(?:\.\w+)*")


def condition(where: str) -> str:
    """A user's condition as SQL for the store. `contains` finds words anywhere in a text, in capitals or not.

    >>> condition("language = 'en' AND year > 2019 AND author LIKE 'B%'")
    "language = 'en' AND json_get_float(metadata, 'year') > 2019 AND json_get_string(metadata, 'author') LIKE 'B%'"
    >>> condition("author contains 'doe'")
    "json_get_string(metadata, 'author') ILIKE '%doe%'"
    """
    tokens = _tokens(where)
    return "".join(map(_rewrite, tokens, _previous_tokens(tokens), _value_types(tokens)))


def metadata_keys(where: str) -> list[str]:
    """The keys of the metadata that a user's condition names.

    >>> metadata_keys("language = 'en' AND year > 2019 AND author LIKE 'B%'")
    ['year', 'author']
    """
    return list(dict.fromkeys(key for token in _tokens(where) if (key := _metadata_key(token))))


def function_in(where: str) -> str | None:
    """The first function that a condition calls; one from outside must call none, so that it cannot cost much.

    >>> function_in("language IN ('en', 'de') AND NOT (words < 100)"), function_in("repeat(title, 9) = ''")
    (None, 'repeat')
    """
    called = (name for name in _CALL.findall(_TEXT.sub("''", where)) if name.lower() not in _BEFORE_A_BRACKET)
    return next(called, None)


def has_key(key: str) -> str:
    """The SQL condition that a document has a key in its metadata."""
    return f"json_get_string(metadata, '{key}') IS NOT NULL"


def _tokens(where: str) -> list[str]:
    return [match[0] for match in _TOKEN.finditer(where)]


def _previous_tokens(tokens: list[str]) -> Iterator[str]:
    """For each token, the last one before it that is not blank."""
    previous = ""
    for token in tokens:
        yield previous
        previous = token if token.strip() else previous


def _value_types(tokens: list[str]) -> list[str]:
    """For each token, the type of the value that follows it, which a metadata value is compared with."""
    types, following = [], "string"
    for token in reversed(tokens):
        types.append(following)
        following = _value_type(token) or following
    return types[::-1]


def _rewrite(token: str, previous: str, value_type: str) -> str:
    if _is_contains(token):
        return "ILIKE" + token[len(token.rstrip()) :]
    if token.startswith("'") and len(token) > 1 and _is_contains(previous):
        return f"'%{_LIKE_SIGNS.sub(_ESCAPED, token[1:-1])}%'"
    key = _metadata_key(token)
    if not key:
        return token
    return f"json_get_{value_type}(metadata, '{key}')" + token[len(token.rstrip()) :]


def _is_contains(token: str) -> bool:
    return token.strip().lower() == "contains"


def _metadata_key(token: str) -> str:
    """The key of the metadata that a token names; empty if it names none."""
    name = token.strip()
    if not _NAME.fullmatch(name) or name.lower() in _KEYWORDS or name in COLUMNS:
        return ""
    return name.removeprefix("metadata.")  # letters, digits, underscores and dots alone


def _value_type(token: str) -> str | None:
    """The type of a value; "string" at the end of a comparison, None for any other token."""
    if token.startswith("'"):
        return "string"
    if token[0].isdigit():
        return "float"
    return {"true": "bool", "false": "bool", "and": "string", "or": "string"}.get(token.strip().lower())
