"""The fields at the top of a Markdown file, between lines of three dashes."""

import re
from typing import Any

from longmatch.documents.metadata import bibliography

_BLOCK = re.compile(r"---[ \t]*(?:\r\n|\r|\n)(.*?)(?:\r\n|\r|\n)(?:---|\.\.\.)[ \t]*(?=\r|\n|\Z)", re.DOTALL)
_FIELD = re.compile(r"([A-Za-z][\w-]*+)[ \t]*+:(?:[ \t]++(.*))?$")
_ITEM = re.compile(r"[ \t]*+-[ \t]++(?:name[ \t]*+:[ \t]*+)?(.*)$")
_LISTS = {"tags": ("tags", "tag", "categories"), "keywords": ("keywords",)}


def match_front_matter(text: str) -> re.Match[str] | None:
    """The front matter of a text; its first group is what is between the dashes."""
    return _BLOCK.match(text)


def fields(block: str) -> dict[str, list[str]]:
    r"""Each field with its values: of plain YAML, what documents use.

    >>> fields("title: On 'Rain'\nauthors: [J. Doe, \"R. Roe\"]\ntags:\n  - a\n  - b\ndate: 2019-03-12 # draft")
    {'title': ["On 'Rain'"], 'authors': ['J. Doe', 'R. Roe'], 'tags': ['a', 'b'], 'date': ['2019-03-12']}
    """
    found: dict[str, list[str]] = {}
    values: list[str] | None = None
    for line in block.replace("\r\n", "\n").replace("\r", "\n").split("\n"):
        if match := _FIELD.match(line):
            values = _values(match[2] or "")
            found.setdefault(match[1].lower(), values)
        elif values is not None and (item := _ITEM.match(line)):
            values += _values(item[1])
        elif line.strip() and not line.startswith((" ", "\t")):
            values = None
    return found


def front_matter_metadata(found: dict[str, list[str]]) -> dict[str, Any]:
    """Author, year, DOI and tags."""

    def all_of(*names: str) -> list[str]:
        return [value for name in names for value in found.get(name, ())]

    dates = all_of("year", "date", "published")
    lists = {name: "; ".join(all_of(*others)) for name, others in _LISTS.items()}
    return bibliography(all_of("author", "authors"), dates, all_of("doi"), **lists)


def _values(text: str) -> list[str]:
    """One value, or those of a list in brackets."""
    text = text.strip()
    if text.startswith("[") and text.endswith("]"):
        return [value for part in text[1:-1].split(",") for value in _values(part)]
    if text[:1] in {'"', "'"} and text.find(text[0], 1) > 0:
        text = text[1 : text.find(text[0], 1)]
    else:
        text = text.partition(" #")[0].strip()
    return [text] if text and text not in {"|", ">", "|-", ">-", "null", "~"} else []
