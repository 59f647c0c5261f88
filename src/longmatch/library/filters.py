"""A user's condition as the store's: names that are no columns are looked up in the documents' metadata."""

import re

COLUMNS = frozenset({"id", "title", "language", "words", "source"})
_WORDS = frozenset(["and", "or", "not", "in", "is", "null", "like", "between", "true", "false", "ilike", "escape"])
_TOKEN = re.compile(r"'(?:[^']|'')*'|[^\W\d]\w*(?:\.\w+)*\s*\(?|\d+(?:\.\d+)?|[^\w\s']+|\s+|'")
_NAME = re.compile(r"[^\W\d]\w*(?:\.\w+)*")


def condition(where: str) -> str:
    """Rewrite a condition.

    >>> condition("language = 'en' AND year > 2019 AND author LIKE 'B%'")
    "language = 'en' AND json_get_float(metadata, 'year') > 2019 AND json_get_string(metadata, 'author') LIKE 'B%'"
    """
    tokens = [match[0] for match in _TOKEN.finditer(where)]
    return "".join(_rewritten(token, tokens[place + 1 :]) for place, token in enumerate(tokens))


def _rewritten(token: str, after: list[str]) -> str:
    name = token.strip()
    if not _NAME.fullmatch(name) or name.lower() in _WORDS or name in COLUMNS:
        return token
    key = name.removeprefix("metadata.").replace("'", "''")
    return f"json_get_{_kind(after)}(metadata, '{key}')" + token[len(token.rstrip()) :]


def _kind(after: list[str]) -> str:
    """Text or number, by what the name is compared with."""
    for token in after:
        if token.startswith("'"):
            return "string"
        if token[0].isdigit():
            return "float"
        if token.strip().lower() in {"true", "false"}:
            return "bool"
        if token.strip().lower() in {"and", "or"}:
            break
    return "string"
