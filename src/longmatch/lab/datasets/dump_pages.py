"""Stream the pages of a Wikipedia XML dump (pages-articles, .xml or .xml.bz2), one in memory at a time."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from xml.etree.ElementTree import Element

from longmatch.lab.datasets.progress import report
from longmatch.lab.datasets.records import open_binary
from longmatch.lab.datasets.safe_xml import iterate_elements


@dataclass(frozen=True, slots=True)
class Page:
    """An article, or a redirect to one."""

    title: str
    text: str
    redirect: str  # target title, or empty


def iterate_pages(dumps: list[Path]) -> Iterator[Page]:
    """The pages of the article namespace (0), in dump order."""
    count = 0
    for dump in dumps:
        with open_binary(dump) as stream:
            for element in iterate_elements(stream, "page", dump):
                if element.findtext("ns", "0") == "0":
                    count += 1
                    if count % 1000 == 0:
                        report("pages read", count)
                    yield _page(element)


def _page(element: Element) -> Page:
    redirect = element.find("redirect")
    target = redirect.get("title", "") if redirect is not None else ""
    return Page(element.findtext("title", ""), element.findtext("revision/text") or "", target)


def page_id(title: str) -> str:
    """The document id of a title: its form in URLs.

    >>> page_id("Apple tree")
    'Apple_tree'
    """
    return title.replace(" ", "_")
