"""The meta tags of a page that name its author, year and DOI: Highwire Press, Dublin Core, Open Graph and others."""

from collections.abc import Sequence
from typing import Any

from longmatch.documents.metadata import bibliography

_AUTHORS = (  # the first that a page has, in lower case
    ("citation_author", "citation_authors"),
    ("dc.creator", "dcterms.creator", "dc.contributor.author"),
    ("article:author", "author", "parsely-author"),
)
_DATES = (
    *("citation_publication_date", "citation_date", "citation_year", "citation_online_date", "prism.publicationdate"),
    *("dcterms.issued", "dc.date.issued", "dc.date", "dcterms.date", "dc.date.created", "dcterms.created"),
    *("article:published_time", "og:published_time", "datepublished", "parsely-pub-date", "date"),
)
_DOIS = ("citation_doi", "prism.doi", "dc.identifier.doi", "doi", "dc.identifier", "dcterms.identifier")


def page_metadata(meta: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """Author, year and DOI from the names and contents of meta tags.

    >>> page_metadata([("citation_author", "Doe, Jane"), ("author", "Site"), ("DC.Date", "2019-03-12")])
    {'author': 'Doe, Jane', 'year': 2019}
    """
    stated: dict[str, list[str]] = {}
    for name, content in meta:
        stated.setdefault(name.lower(), []).append(content)

    def contents(names: Sequence[str]) -> list[str]:
        return [content for name in names for content in stated.get(name, ())]

    authors = next((found for names in _AUTHORS if (found := contents(names))), [])
    return bibliography(authors, contents(_DATES), contents(_DOIS))
