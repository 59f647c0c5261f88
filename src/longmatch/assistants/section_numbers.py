"""By which numbers an assistant names sections: a heading's own where it has one, as people say "section 3"."""

from longmatch.documents.document import Document
from longmatch.documents.pdf.numbering import read_number
from longmatch.errors import LongmatchError


def section_numbers(document: Document) -> list[str]:
    """One for each section, no two the same: "3.1" of the first heading that begins so, else "#7" for the seventh."""
    found: dict[str, None] = {}
    for place, section in enumerate(document.sections, 1):
        own = _own_number(section.heading)
        found[own if own and own not in found else f"#{place}"] = None
    return list(found)


def section_place(document: Document, number: str | int) -> int:
    """The place of the section that has a number, in the document's sections."""
    try:
        return section_numbers(document).index(str(number).strip().rstrip("."))
    except ValueError:
        raise LongmatchError(f"{document.id} has no section {number}. Take a `number` of its outline.") from None


def _own_number(heading: str) -> str:
    """The Arabic number that a heading begins with.

    >>> _own_number("3. 2. Results"), _own_number("A new start")
    ('3.2', '')
    """
    number = read_number(heading.strip())
    return ".".join(map(str, number.parts)) if number and number.series == "arabic" else ""
