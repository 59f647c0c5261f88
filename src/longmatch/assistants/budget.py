"""What a tool's answer may hold: an assistant reads all of it, so no answer carries a whole book."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

ANSWER = 24_000  # characters of JSON
PASSAGE = 600  # characters of one quoted passage
NAME = 200  # of a title, a heading or a value of the metadata
PAGE = 8_000  # characters of a document read at a time

_ENDS = (re.compile(r"\n\s*\n"), re.compile(r"(?<=[.!?])\s"), re.compile(r"\s"))


def shortened(text: str, most: int = NAME) -> str:
    """A text in one line, cut at a word where it is longer than `most` characters.

    >>> shortened("one  two three", 9)
    'one two …'
    """
    line = " ".join(text.split())
    return line if len(line) <= most else line[: most - 1].rpartition(" ")[0][: most - 2] + " …"


def cut(text: str, most: int = PAGE) -> int:
    """Where to end a piece of at most `most` characters: after a paragraph, else a sentence, else a word."""
    if len(text) <= most:
        return len(text)
    for end in _ENDS:
        places = [match.end() for match in end.finditer(text, most // 2, most)]
        if places:
            return places[-1]
    return most


def fitted(items: Iterable[Mapping[str, Any]], room: int = ANSWER) -> tuple[list[Mapping[str, Any]], int]:
    """The first items that fit together, and how many were left out.

    >>> fitted([{"a": 1}, {"a": 22}], room=12)
    ([{'a': 1}], 1)
    """
    offered: Sequence[Mapping[str, Any]] = list(items)
    kept: list[Mapping[str, Any]] = []
    for item in offered:
        room -= len(json.dumps(item, ensure_ascii=False, default=str))
        if room < 0:
            break
        kept.append(item)
    return kept, len(offered) - len(kept)
