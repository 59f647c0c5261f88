"""Filter conditions: names in a user's condition that are not columns become lookups in the metadata."""

import re

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
    return "".join(_rewrite(token, tokens[:i], tokens[i + 1 :]) for i, token in enumerate(tokens))


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


def _rewrite(token: str, before: list[str], following: list[str]) -> str:
    if _is_contains(token):
        return "ILIKE" + token[len(token.rstrip()) :]
    if token.startswith("'") and len(token) > 1 and _is_contains(next(filter(str.strip, reversed(before)), "")):
        return f"'%{_LIKE_SIGNS.sub(_ESCAPED, token[1:-1])}%'"
    key = _metadata_key(token)
    if not key:
        return token
    return f"json_get_{_value_type(following)}(metadata, '{key}')" + token[len(token.rstrip()) :]


def _is_contains(token: str) -> bool:
    return token.strip().lower() == "contains"


def _metadata_key(token: str) -> str:
    """The key of the metadata that a token names; empty if it names none."""
    name = token.strip()
    if not _NAME.fullmatch(name) or name.lower() in _KEYWORDS or name in COLUMNS:
        return ""
    return name.removeprefix("metadata.")  # letters, digits, underscores and dots alone


def _value_type(following: list[str]) -> str:
    """The type of a metadata value, by what it is compared with."""
    for token in following:
        if token.startswith("'"):
            return "string"
        if token[0].isdigit():
            return "float"
        if token.strip().lower() in {"true", "false"}:
            return "bool"
        if token.strip().lower() in {"and", "or"}:
            break
    return "string"
