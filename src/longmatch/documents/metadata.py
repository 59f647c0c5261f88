"""Author, year and DOI of a document, from whatever its format says; what is implausible is dropped."""

import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

_FIRST_YEAR = 1450  # of print
_ISO_DATE = re.compile(r"(?:D:)?(\d{4})(?:[-/.]\d{1,2}(?!\d)|(?:0[1-9]|1[0-2])(?:\d\d)*(?!\d)|\Z)")
_YEAR = re.compile(r"(?<![\d./:-])(1[4-9]\d\d|2[01]\d\d)(?![\d./:-]*\d)")
_DOI = re.compile(r"(?<![\w.])10\.\d{4,9}(?:\.\d+)*/[^\s\"<>{}|\\^`]+", re.IGNORECASE)
_DOI_END = ".,;:!?'\"(["
_CUT = ("/", "-", "_")  # at the end of a line
_PLACEHOLDER = re.compile(  # names of programs and of accounts that nobody named
    r"authors?|unknown(?: author)?|anonymous|admin(?:istrator)?|root|user|owner|default|test|none|null|n/a|guest|staff|"
    r"removed|windows user|microsoft(?: office user| account| word)?|python-docx|steve canny|apache poi|docx4j|calibre|"
    r"pandoc|latex|openoffice|libreoffice|word|hp|dell|lenovo|asus|acer|pc|home|office|student|editor",
    re.IGNORECASE,
)
_TEMPLATE_DATES = ("2013-12-23T23:15:00", "2013-01-27T09:14:16")  # of python-docx and python-pptx
_PARTICLE = re.compile(r"(?:d[aeiu]|del|della|der|dos|el|l[ae]|van|von|zum?) ", re.IGNORECASE)
_LARGEST_NAME, _MOST_NAMES = 200, 500


def bibliography(
    authors: Iterable[str] = (), dates: Iterable[str] = (), dois: Iterable[str] = (), **other: str
) -> dict[str, Any]:
    """The plausible facts: `author` (names separated by semicolons), `year` and `doi`, from the first date and DOI
    that are; and what else is given and not empty.

    >>> bibliography(["Doe, Jane", "Admin", "R. Roe and P. Poe"], ["0101-01-01", "D:20190312"], ["doi:10.1000/ABC."])
    {'author': 'Doe, Jane; R. Roe; P. Poe', 'year': 2019, 'doi': '10.1000/abc'}
    """
    names = list(dict.fromkeys(name for text in authors for name in author_names(text)))[:_MOST_NAMES]
    facts = {
        "author": "; ".join(names),
        "year": next((year for text in dates if (year := year_of(text))), None),
        "doi": next((doi for text in dois if (doi := doi_of(text))), ""),
        **{key: " ".join(text.split()) for key, text in other.items()},
    }
    return {key: value for key, value in facts.items() if value}


def office_metadata(properties: Mapping[str, str]) -> dict[str, Any]:
    """Facts of an office file's properties; dates that templates carry are not the document's."""
    created = properties.get("created", "")
    dates = [] if created.startswith(_TEMPLATE_DATES) else [created]
    dois = [properties.get(name, "") for name in ("identifier", "description", "subject")]
    return bibliography([properties.get("creator", "")], dates, dois, keywords=properties.get("keywords", ""))


def with_bibliography(record: Mapping[str, Any]) -> dict[str, Any]:
    """A record as it is, with author, year and DOI where it gives them under other names or as a list.

    >>> with_bibliography({"authors": ["J. Doe", {"name": "R. Roe"}], "date": "2019-03-12"})["author"]
    'J. Doe; R. Roe'
    """
    lower = {str(key).lower(): value for key, value in reversed(list(record.items()))}
    found = bibliography(
        [name for key in ("author", "authors", "creator", "by") for name in _texts(lower.get(key))],
        [text for key in ("year", "date", "published", "publication_date") for text in _texts(lower.get(key))],
        _texts(lower.get("doi")),
    )
    if "author" in found and isinstance(record.get("author"), list | dict):  # a condition compares text
        record = {"authors": record["author"]} | dict(record) | {"author": found["author"]}
    return dict(record) | {key: value for key, value in found.items() if key not in record}


def author_names(text: str) -> list[str]:
    """The plausible names in a text that may hold several.

    >>> author_names("Jane Doe, Rick Roe"), author_names("Doe, Jane"), author_names("user"), author_names("a@b.org")
    (['Jane Doe', 'Rick Roe'], ['Doe, Jane'], [], ['a@b.org'])
    """
    if len(text) > _LARGEST_NAME * _MOST_NAMES:
        return []
    found: list[str] = []
    for part in re.split(r"[;\n]|(?<=\s)(?:and|&)(?=\s)", text):
        stripped = part.strip(" ,\t\r")
        names = [name.strip() for name in stripped.split(",")]
        several = len(names) > 1 and all(" " in name for name in names)
        inverted = len(names) == 2 and _PARTICLE.match(names[0]) is not None
        found += names if several and not inverted else [stripped]  # `Jane Doe, Rick Roe` are two, `Doe, Jane` is one
    return [clean for name in found if _is_name(clean := " ".join(name.split()))]


def year_of(text: str) -> int | None:
    """The year of a date as formats write it; None if there is none, several, or one that cannot be.

    >>> year_of("2019-03-12T10:00:00Z"), year_of("D:20190312"), year_of("12 March 2019"), year_of("1998-2002")
    (2019, 2019, 2019, None)
    """
    text = text.strip()[:200]
    found = {int(match[1])} if (match := _ISO_DATE.match(text)) else {int(year) for year in _YEAR.findall(text)}
    year = found.pop() if len(found) == 1 else 0
    return year if _FIRST_YEAR <= year <= datetime.now(UTC).year + 1 else None


def doi_of(text: str) -> str:
    """The first DOI in a text, in lower case; empty if there is none.

    >>> doi_of("(see https://doi.org/10.1016/S0140-6736(05)67889-1)."), doi_of("10.1/x")
    ('10.1016/s0140-6736(05)67889-1', '')
    """
    return next(iter(dois_in(text)), "")


def dois_in(text: str) -> list[str]:
    """The distinct DOIs in a text."""
    return list(dict.fromkeys(doi for match in _DOI.finditer(text) if (doi := _without_end(match[0].lower()))))


def _without_end(doi: str) -> str:
    """Without the punctuation of the sentence around it; empty if nothing is left, too much, or only its beginning."""
    if doi.endswith(_CUT):
        return ""
    while len(doi) <= _LARGEST_NAME:
        shorter = doi.rstrip(_DOI_END)
        for opening, closing in ("()", "[]"):
            if shorter.endswith(closing) and shorter.count(closing) > shorter.count(opening):
                shorter = shorter[:-1]
        if shorter == doi:
            return doi if doi.partition("/")[2] else ""
        doi = shorter
    return ""


def _is_name(name: str) -> bool:
    return (
        2 <= len(name) <= _LARGEST_NAME
        and sum(c.isalpha() for c in name) >= 2
        and name.isprintable()
        and "\N{REPLACEMENT CHARACTER}" not in name
        and "://" not in name
        and _PLACEHOLDER.fullmatch(name) is None
    )


def _texts(value: object) -> list[str]:
    """The texts in a field: one, a list of them, or of objects with a name."""
    texts = []
    for item in value if isinstance(value, list) else [value]:
        name = item
        if isinstance(item, dict):
            given, family = item.get("given") or item.get("first"), item.get("family") or item.get("last")
            both = isinstance(given, str) and isinstance(family, str) and given and family
            name = item.get("name") or (f"{family}, {given}" if both else "")
        if isinstance(name, str | int) and not isinstance(name, bool):
            texts.append(str(name))
    return texts
