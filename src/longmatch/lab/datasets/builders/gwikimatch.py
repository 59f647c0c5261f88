"""GWikiMatch: pairs of Wikipedia articles labelled by people (Yang et al. 2020, the SMITH paper's public set).

Reads a folder with the released tab-separated files and a Wikipedia dump (they hold addresses only):

    *train*.tsv, *eval*.tsv, *test*.tsv     a label and two addresses, http://en.wikipedia.org/wiki/Apple
    *.xml or *.xml.bz2                      a pages-articles dump, as for WIKI

Rule: labels 1 and 2 (somewhat, strongly similar) are matches, 0 is not; the splits are the released ones (eval is
validation). Addresses go through redirects; pairs whose article the dump lacks are dropped and counted.
"""

from pathlib import Path
from urllib.parse import unquote

from longmatch.errors import ReadError
from longmatch.lab.datasets.raw_files import RawFiles, opened
from longmatch.lab.datasets.records import Pair, Record, Split, iterate_lines
from longmatch.lab.datasets.wikipedia_dump import address_of, iterate_pages
from longmatch.lab.datasets.wikitext import page_title, wikitext_parts
from longmatch.lab.datasets.writer import CollectionWriter, Summary

_SPLITS: dict[str, Split] = {"train": "train", "eval": "validation", "test": "test"}


def build(raw: Path, out: Path) -> Summary:
    """Build the set."""
    with opened(raw) as files, CollectionWriter(out) as writer:
        pairs = _pairs(files)
        wanted = {title for pair in pairs for title in (pair.source, pair.target)}
        dumps = files.some("*.xml", "*.xml.bz2", "*.xml.gz")
        lead = {page.title: page.redirect for page in iterate_pages(dumps) if page.redirect and page.title in wanted}
        needed = {lead.get(title, title) for title in wanted}
        for page in iterate_pages(dumps):
            if page.title in needed and not page.redirect:
                writer.add(Record(address_of(page.title), page.title, wikitext_parts(page.text)))
        for pair in pairs:
            source, target = (address_of(lead.get(title, title)) for title in (pair.source, pair.target))
            writer.pair(pair.split, source, target, pair.label)
        return writer.finish()


def _pairs(files: RawFiles) -> list[Pair]:
    """The labelled pairs by title."""
    pairs = []
    for path in files.some("*.tsv"):
        split = next((_SPLITS[word] for word in _SPLITS if word in path.name.lower()), None)
        if split is None:
            raise ReadError(path, "does not say which split it is", "Its name holds train, eval or test.")
        for number, line in iterate_lines(path):
            cells = line.split("\t")
            if len(cells) != 3 or not cells[0].isdigit():
                raise ReadError(path, f"line {number} is not a label and two addresses", "Fetch the file again.")
            pairs.append(Pair(split, title_of(cells[1]), title_of(cells[2]), int(cells[0] != "0")))
    return pairs


def title_of(address: str) -> str:
    """The title an address leads to.

    >>> title_of("http://en.wikipedia.org/wiki/Chartered_Engineer_%28UK%29")
    'Chartered Engineer (UK)'
    """
    return page_title(unquote(address.strip().partition("/wiki/")[2]).partition("#")[0])
