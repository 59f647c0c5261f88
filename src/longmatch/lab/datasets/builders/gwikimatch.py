"""GWikiMatch: pairs of Wikipedia articles with human labels (Yang et al. 2020, the SMITH paper's public set).

Reads a folder with the released tab-separated files, which contain only URLs, and a Wikipedia dump:

    *train*.tsv, *eval*.tsv, *test*.tsv     a label and two URLs, http://en.wikipedia.org/wiki/Apple
    *.xml or *.xml.bz2                      a pages-articles dump, as for WIKI

Rule: labels 1 and 2 (somewhat, strongly similar) are matches, 0 is not; the splits are the released ones (eval is
validation). Redirects are followed; pairs with an article missing from the dump are dropped and counted.
"""

from pathlib import Path
from urllib.parse import unquote

from longmatch.errors import ReadError
from longmatch.lab.datasets.raw_files import RawFiles, open_raw
from longmatch.lab.datasets.records import Pair, RawDocument, Split, iterate_lines
from longmatch.lab.datasets.wikitext import iterate_pages, page_id, page_title, wikitext_parts
from longmatch.lab.datasets.writer import CollectionWriter, Summary

_SPLITS: dict[str, Split] = {"train": "train", "eval": "validation", "test": "test"}


def build(raw: Path, out: Path) -> Summary:
    """Build the set."""
    with open_raw(raw) as files, CollectionWriter(out) as writer:
        pairs = _pairs(files)
        wanted = {title for pair in pairs for title in (pair.source, pair.target)}
        dumps = files.require("*.xml", "*.xml.bz2", "*.xml.gz")
        redirects = {p.title: p.redirect for p in iterate_pages(dumps) if p.redirect and p.title in wanted}
        needed = {redirects.get(title, title) for title in wanted}
        for page in iterate_pages(dumps):
            if page.title in needed and not page.redirect:
                writer.add(RawDocument(page_id(page.title), page.title, wikitext_parts(page.text)))
        for pair in pairs:
            source, target = (page_id(redirects.get(title, title)) for title in (pair.source, pair.target))
            writer.pair(pair.split, source, target, pair.label)
        return writer.finish()


def _pairs(files: RawFiles) -> list[Pair]:
    """The labelled pairs by title."""
    pairs = []
    for path in files.require("*.tsv"):
        split = next((_SPLITS[word] for word in _SPLITS if word in path.name.lower()), None)
        if split is None:
            raise ReadError(path, "does not say which split it is", "Its name should contain train, eval or test.")
        for number, line in iterate_lines(path):
            cells = line.split("\t")
            if len(cells) != 3 or not cells[0].isdigit():
                raise ReadError(path, f"line {number} is not a label and two URLs", "Fetch the file again.")
            pairs.append(Pair(split, url_title(cells[1]), url_title(cells[2]), int(cells[0] != "0")))
    return pairs


def url_title(url: str) -> str:
    """The title of the article at a URL.

    >>> url_title("http://en.wikipedia.org/wiki/Chartered_Engineer_%28UK%29")
    'Chartered Engineer (UK)'
    """
    return page_title(unquote(url.strip().partition("/wiki/")[2]).partition("#")[0])
