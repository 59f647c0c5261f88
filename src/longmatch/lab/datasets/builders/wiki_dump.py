"""WIKI: similar Wikipedia articles by their links (CoLDE section 4.1.1, SMITH section 5.1.1).

Reads a dump as dumps.wikimedia.org gives it: `*pages-articles*.xml` or `.xml.bz2`, in one file or several.

Rule: articles are similar when the Jaccard similarity of their outgoing links is above 0.5; the source of a pair is the
one whose address sorts first, and its negative is an article it links to that is not similar. Only articles with two or
more similar ones are kept (CoLDE; `min_similar=1` gives SMITH's rule). Links go through redirects and count where the
dump holds the article; disambiguation pages are left out.

The dump is read twice. The first time only links are kept, eight bytes each; the second time the text of the articles
that some pair names is cleaned and written. No text is ever held but one page's.
"""

from array import array
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path

import numpy as np
import numpy.typing as npt

from longmatch.lab.datasets.labelling import label_similar, negatives
from longmatch.lab.datasets.raw_files import opened
from longmatch.lab.datasets.records import Record
from longmatch.lab.datasets.similar_sets import similar_pairs
from longmatch.lab.datasets.splits import PAPERS
from longmatch.lab.datasets.wikipedia_dump import address_of, iterate_pages
from longmatch.lab.datasets.wikitext import is_disambiguation, link_targets, wikitext_parts
from longmatch.lab.datasets.writer import CollectionWriter, Summary

Numbers = npt.NDArray[np.int64]

SPARE = 2


@dataclass
class LinkGraph:
    """Who links to whom, in flat arrays: a title is a 64-bit number until it is needed."""

    titles: bytearray = field(default_factory=bytearray)  # addresses, one after the other
    title_ends: "array[int]" = field(default_factory=lambda: array("q"))
    names: "array[int]" = field(default_factory=lambda: array("q"))  # each article's number
    links: "array[int]" = field(default_factory=lambda: array("q"))  # numbers linked to, article after article
    link_ends: "array[int]" = field(default_factory=lambda: array("q"))
    redirects: "array[int]" = field(default_factory=lambda: array("q"))  # from, to, from, to

    def add(self, title: str, targets: Iterable[str]) -> None:
        """Add an article and the titles it links to."""
        self.titles += address_of(title).encode()
        self.title_ends.append(len(self.titles))
        self.names.append(number_of(title))
        self.links.extend(sorted({number_of(target) for target in targets}))
        self.link_ends.append(len(self.links))

    def redirect(self, title: str, target: str) -> None:
        """Add a second title of an article."""
        self.redirects.extend((number_of(title), number_of(target)))

    def address(self, article: int) -> str:
        """An article's address."""
        start = self.title_ends[article - 1] if article else 0
        return self.titles[start : self.title_ends[article]].decode()

    def outgoing(self) -> list[npt.NDArray[np.int32]]:
        """For each article the articles it links to, redirects followed, itself left out, sorted."""
        names, targets = (np.frombuffer(a, dtype=np.int64) for a in (self.names, self.links))
        order = np.argsort(names, kind="stable")
        moves = np.frombuffer(self.redirects, dtype=np.int64).reshape(-1, 2)
        moves = moves[np.argsort(moves[:, 0], kind="stable")]
        articles = _look_up(names[order], order, targets)
        lost = articles < 0
        onward = _look_up(moves[:, 0], moves[:, 1], targets[lost], missing=0)
        articles[lost] = _look_up(names[order], order, onward)
        found = np.split(articles, np.frombuffer(self.link_ends, dtype=np.int64)[:-1])
        return [np.unique(row[(row >= 0) & (row != at)]).astype(np.int32) for at, row in enumerate(found)]


def number_of(title: str) -> int:
    """A 64-bit number that stands for a title."""
    return int.from_bytes(blake2b(title.encode(), digest_size=8).digest(), "big", signed=True)


def _look_up(keys: Numbers, values: Numbers, wanted: Numbers, missing: int = -1) -> Numbers:
    """The value beside each wanted key in a sorted table."""
    if not len(keys):
        return np.full(len(wanted), missing, dtype=np.int64)
    at = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return np.where(keys[at] == wanted, values[at], missing)


def build(
    raw: Path,
    out: Path,
    *,
    threshold: float = 0.5,
    min_links: int = 5,
    min_similar: int = 2,
    min_words: int = 50,
    seed: int = 0,
) -> Summary:
    """Build the set; articles with fewer than `min_links` links or `min_words` words are left out."""
    with opened(raw) as files, CollectionWriter(out) as writer:
        dumps = files.some("*.xml", "*.xml.bz2", "*.xml.gz")
        graph = LinkGraph()
        for page in iterate_pages(dumps):
            if page.redirect:
                graph.redirect(page.title, page.redirect)
            elif not is_disambiguation(page.title, page.text):
                graph.add(page.title, link_targets(page.text))
        similar, linked = _choose(graph, threshold, min_links, min_similar, seed)
        chosen = {address for pair in similar for address in pair}
        for source in {min(pair) for pair in similar}:
            chosen.update(linked[source])
        for page in iterate_pages(dumps):
            address = address_of(page.title)
            if address in chosen and not page.redirect:
                record = Record(address, page.title, wikitext_parts(page.text))
                if record.words >= min_words:
                    writer.add(record)
                else:
                    writer.skip()
        written = writer.ids
        linked = {source: [target for target in targets if target in written] for source, targets in linked.items()}
        label_similar(writer, [(a, b) for a, b in similar if {a, b} <= written], linked, PAPERS, seed)
        return writer.finish()


def _choose(
    graph: LinkGraph, threshold: float, min_links: int, min_similar: int, seed: int
) -> tuple[list[tuple[str, str]], dict[str, list[str]]]:
    """The similar pairs by address, and for each source the links its negatives are drawn from.

    Of a source's links only as many as may be needed are kept, and SPARE more for those that turn out too short.
    """
    outgoing = graph.outgoing()
    enough = [at for at, row in enumerate(outgoing) if len(row) >= min_links]
    pairs = [(enough[i], enough[j]) for i, j, _ in similar_pairs([outgoing[at] for at in enough], threshold)]
    while True:  # a dropped article may leave its partners with too few
        degree = Counter(at for pair in pairs for at in pair)
        stay = [(i, j) for i, j in pairs if min(degree[i], degree[j]) >= min_similar]
        if len(stay) == len(pairs):
            break
        pairs = stay
    similar = sorted((min(a, b), max(a, b)) for a, b in ((graph.address(i), graph.address(j)) for i, j in pairs))
    needed = Counter(source for source, _ in similar)
    number = {graph.address(at): at for pair in pairs for at in pair}
    both = set(similar)
    linked = {}
    for source, count in needed.items():
        targets = [graph.address(int(at)) for at in outgoing[number[source]]]
        linked[source] = negatives(source, targets, both, seed)[: count + SPARE]
    return similar, linked
