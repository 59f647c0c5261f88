"""Documents and passages in a few characters, as a notebook or a log shows them."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from longmatch.documents.document import Document


def brief(text: str, width: int = 60) -> str:
    """The beginning of a text on one line, at most `width` characters.

    >>> brief("The bank\\nfailed."), brief("The bank failed on Monday.", 12)
    ('The bank failed.', 'The bank fa…')
    """
    line = " ".join(text[: 4 * width].split())  # runs of spaces count once
    is_cut = len(line) > width or bool(text[4 * width :].strip())
    return f"{line[: width - 1].rstrip()}…" if is_cut else line


def outline_html(document: "Document", most: int = 12) -> str:
    """Title, size and headings of a document as HTML."""
    from html import escape

    sizes = f"{document.words:,} words, {len(document.sections):,} sections, {document.language}"
    headings = [brief(section.heading, 100) for section in document.sections if section.heading.strip()]
    items = "".join(f"<li>{escape(heading)}</li>" for heading in headings[:most])
    more = f"<li>… {len(headings) - most:,} more</li>" if len(headings) > most else ""
    outline = f"<ul>{items}{more}</ul>" if items else ""
    return f"<div><b>{escape(brief(document.title, 200))}</b><br>{escape(document.id)}, {escape(sizes)}{outline}</div>"
