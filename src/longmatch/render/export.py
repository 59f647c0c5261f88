"""Hits as a table, and the documents of a library as a bibliography: CSV, BibTeX, RIS.

Spreadsheets take a cell that begins with certain signs for a formula and run it: here no cell is one.
"""

import csv
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, TextIO, TypeAlias

from longmatch.documents.unique_names import UniqueNames
from longmatch.matching.hits import Hits, SectionHits

Record: TypeAlias = Mapping[str, Any]  # as of Library.records
Format: TypeAlias = Literal["bibtex", "ris", "csv"]

HIT_COLUMNS = ("id", "title", "verdict", "probability", "relation", "source", "query_passage", "passage")
SECTION_COLUMNS = ("id", "title", "section", "page", "source", "passage")
_FORMULA_SIGNS = frozenset("=+-@")  # and those that are shown in another width
_SEPARATORS = ("\t", "\r")
COLUMNS = ("id", "title", "author", "year", "doi", "journal", "tags", "collections", "language", "words", "source")
_TYPES = {  # of Zotero -> of BibTeX, of RIS
    "journalArticle": ("article", "JOUR"),
    "magazineArticle": ("article", "MGZN"),
    "newspaperArticle": ("article", "NEWS"),
    "conferencePaper": ("inproceedings", "CONF"),
    "bookSection": ("incollection", "CHAP"),
    "book": ("book", "BOOK"),
    "thesis": ("phdthesis", "THES"),
    "report": ("techreport", "RPRT"),
    "webpage": ("", "ELEC"),
}
_BIBTEX_SIGNS = {
    "\\": r"{\textbackslash}",
    "{": r"{\textbraceleft}",
    "}": r"{\textbraceright}",
    "~": r"{\textasciitilde}",
    "^": r"{\textasciicircum}",
    **{sign: f"\\{sign}" for sign in "&%$#_"},
}
_BIBTEX_ESCAPE = str.maketrans(_BIBTEX_SIGNS)
_ADDRESSES = ("doi", "url")
_ADDRESS_ESCAPE = str.maketrans({"{": "%7B", "}": "%7D", "\\": "%5C", " ": "%20"})
_DASHES = re.compile(r" ?[-–]+ ?")
_NO_KEY_SIGN = re.compile(r"[^a-z0-9]")
_RIS_FIELDS = {
    "DO": "doi",
    "T2": "journal",
    "VL": "volume",
    "IS": "issue",
    "PB": "publisher",
    "SN": "isbn",
    "UR": "url",
}


def write_table(hits: Hits | SectionHits, file: TextIO) -> None:
    """Write a line per document or section to an open file, under a line of column names."""
    if isinstance(hits, Hits):
        write_csv(file, HIT_COLUMNS, (hit.to_row() for hit in hits))
        return
    rows = (
        {"id": hit.id, "title": hit.title, "section": hit.path, "page": hit.page, "source": hit.document.source}
        | {"passage": hit.passage.shown}
        for hit in hits
    )
    write_csv(file, SECTION_COLUMNS, rows)


def write_csv(file: TextIO, columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> None:
    """Write a line per row to an open file, under a line of column names; no cell can be run as a formula."""
    writer = csv.DictWriter(file, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: safe_cell(row.get(name)) for name in columns} for row in rows)


def safe_cell(value: Any) -> Any:
    """A text that a spreadsheet would run gets an apostrophe before it; numbers stay as they are.

    >>> safe_cell("=HYPERLINK(1)"), safe_cell(" @x"), safe_cell("a = b"), safe_cell(-0.5)
    ("'=HYPERLINK(1)", "' @x", 'a = b', -0.5)
    """
    if not isinstance(value, str):
        return value
    first = next((c for c in value if c.isprintable() and not c.isspace()), "")  # the others may be passed over
    is_formula = unicodedata.normalize("NFKC", first) in _FORMULA_SIGNS
    return f"'{value}" if is_formula or value.lstrip(" \n").startswith(_SEPARATORS) else value


def export(records: Iterable[Record], form: Format, file: TextIO) -> None:
    """Write records to an open file."""
    if form == "csv":
        write_csv(file, COLUMNS, ({**record["metadata"], **record} for record in records))
        return
    writer: Callable[[Iterable[Record]], Iterator[str]] = bibtex if form == "bibtex" else ris
    file.writelines(writer(records))


def bibtex(records: Iterable[Record]) -> Iterator[str]:
    r"""An entry per document, under keys such as `doe2019tides`.

    >>> record = {"id": "a.pdf", "title": "Tides & 100% {x}", "metadata": {"author": "Doe, Jane; R. Roe", "year": 2019}}
    >>> print("".join(bibtex([record])), end="")
    @misc{doe2019tides,
      title = {{Tides \& 100\% {\textbraceleft}x{\textbraceright}}},
      author = {Doe, Jane and R. Roe},
      year = {2019},
    }
    """
    unique_key = UniqueNames(numbered="{}-{}".format)
    for record in records:
        known = record["metadata"]
        kind, _ = _TYPES.get(_text(known, "type"), ("", ""))
        kind = kind or ("article" if _text(known, "journal") else "misc")
        container = "booktitle" if kind in {"inproceedings", "incollection"} else "journal"
        fields = {
            "title": str(record["title"]),
            "author": " and ".join(_parts(known, "author")),
            "year": _text(known, "year"),
            container: _text(known, "journal"),
            **{name: _text(known, name) for name in ("volume", "publisher", "isbn")},
            "number": _text(known, "issue"),
            "pages": _DASHES.sub("--", _text(known, "pages")),
            **{name: _text(known, name) for name in _ADDRESSES},
            "keywords": ", ".join(_parts(known, "tags") or _parts(known, "keywords")),
        }
        lines = ""
        for name, text in fields.items():
            # whatever the text is, the braces around it stay its only ones that are not paired
            escaped = _line(text).translate(_ADDRESS_ESCAPE if name in _ADDRESSES else _BIBTEX_ESCAPE)
            value = f"{{{escaped}}}" if name == "title" else escaped  # it keeps its capitals
            lines += f"  {name} = {{{value}}},\n" if text else ""
        yield f"@{kind}{{{unique_key(_key(record))},\n{lines}}}\n"


def ris(records: Iterable[Record]) -> Iterator[str]:
    """An entry per document; lines end as the format wants it.

    >>> "".join(ris([{"id": "a", "title": "Tides", "language": "en", "metadata": {"year": 2019}}])).split("\\r\\n")
    ['TY  - GEN', 'TI  - Tides', 'PY  - 2019', 'LA  - en', 'ID  - a', 'ER  - ', '']
    """
    for record in records:
        known = record["metadata"]
        pages = _DASHES.split(_text(known, "pages"), maxsplit=1)
        _, kind = _TYPES.get(_text(known, "type"), ("", ""))
        fields = [
            ("TY", kind or ("JOUR" if _text(known, "journal") else "GEN")),
            ("TI", record["title"]),
            *(("AU", name) for name in _parts(known, "author")),
            ("PY", _text(known, "year")),
            *((tag, _text(known, name)) for tag, name in _RIS_FIELDS.items()),
            *zip(("SP", "EP"), pages, strict=False),
            *(("KW", word) for word in _parts(known, "tags") or _parts(known, "keywords")),
            ("LA", record.get("language", "")),
            ("ID", record["id"]),
        ]
        lines = ((tag, _line(value)) for tag, value in fields)
        yield "".join(f"{tag}  - {value}\r\n" for tag, value in lines if value) + "ER  - \r\n"


def _line(value: object) -> str:
    """A value on one line, without control characters."""
    return " ".join("".join(c if c.isprintable() else " " for c in str(value)).split())


def _text(known: Record, name: str) -> str:
    value = known.get(name)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return _line(value) if isinstance(value, str | int | float) and not isinstance(value, bool) else ""


def _parts(known: Record, name: str) -> Sequence[str]:
    """The values of a list, or of a text with semicolons."""
    value = known.get(name)
    values = value if isinstance(value, list) else str(value or "").split(";")
    return [line for part in values if (line := _line(part))]


def _key(record: Record) -> str:
    """A key of plain letters and digits."""
    known = record["metadata"]
    first = next(iter(_parts(known, "author")), "")
    family = first.partition(",")[0] if "," in first else first.rpartition(" ")[2]
    words = (_ascii(word) for word in str(record["title"]).split())
    word = next((word for word in words if len(word) > 3), "")
    return _ascii(family) + _ascii(_text(known, "year")) + word or _ascii(str(record["id"])) or "document"


def _ascii(text: str) -> str:
    return _NO_KEY_SIGN.sub("", unicodedata.normalize("NFKD", text).lower())[:40]
