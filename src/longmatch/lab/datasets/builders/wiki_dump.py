"""WIKI: Wikipedia articles with similar links (CoLDE section 4.1.1, SMITH section 5.1.1).

Reads a dump from dumps.wikimedia.org: `*pages-articles*.xml` or `.xml.bz2`, in one or more files.

Rule: articles are similar if the Jaccard similarity of their outgoing links is above 0.5; the source of a pair is the
one whose URL sorts first, and its negative is an article it links to that is not similar. Only articles with at least
two similar ones are kept (CoLDE; `min_similar=1` gives SMITH's rule). Redirects are followed; links to articles missing
from the dump do not count; disambiguation pages are skipped.

The dump is read twice. The first pass keeps only the links, eight bytes each; the second cleans and writes the text of
the articles in pairs. Only one page's text is in memory at a time.
"""

from array import array
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path

import numpy as np
import numpy.typing as npt

from longmatch.lab.datasets.raw_files import open_raw
from longmatch.lab.datasets.records import RawDocument
from longmatch.lab.datasets.similar_sets import similar_pairs
from longmatch.lab.datasets.splits import PAPERS, label_similar, linked_negatives
from longmatch.lab.datasets.wikitext import is_disambiguation, iterate_pages, link_targets, page_id, wikitext_parts
from longmatch.lab.datasets.writer import CollectionWriter, Summary

Ints = npt.NDArray[np.int64]

_SPARE_NEGATIVES = 2


@dataclass
class LinkGraph:
    """The links between articles in flat arrays; titles are 64-bit hashes until they are needed."""

    ids: bytearray = field(default_factory=bytearray)  # concatenated
    id_ends: "array[int]" = field(default_factory=lambda: array("q"))
    hashes: "array[int]" = field(default_factory=lambda: array("q"))  # of each article's title
    links: "array[int]" = field(default_factory=lambda: array("q"))  # hashes of the targets, article by article
    link_ends: "array[int]" = field(default_factory=lambda: array("q"))
    redirects: "array[int]" = field(default_factory=lambda: array("q"))  # from, to, from, to

    def add(self, title: str, targets: Iterable[str]) -> None:
        """Add an article and the titles it links to."""
        self.ids += page_id(title).encode()
        self.id_ends.append(len(self.ids))
        self.hashes.append(title_hash(title))
        self.links.extend(sorted({title_hash(target) for target in targets}))
        self.link_ends.append(len(self.links))

    def redirect(self, title: str, target: str) -> None:
        """Add another title of an article."""
        self.redirects.extend((title_hash(title), title_hash(target)))

    def id(self, article: int) -> str:
        """The id of an article."""
        start = self.id_ends[article - 1] if article else 0
        return self.ids[start : self.id_ends[article]].decode()

    def outgoing(self) -> list[npt.NDArray[np.int32]]:
        """The sorted articles each article links to, with redirects followed and without itself."""
        hashes, targets = (np.frombuffer(a, dtype=np.int64) for a in (self.hashes, self.links))
        order = np.argsort(hashes, kind="stable")
        redirects = np.frombuffer(self.redirects, dtype=np.int64).reshape(-1, 2)
        redirects = redirects[np.argsort(redirects[:, 0], kind="stable")]
        articles = _look_up(hashes[order], order, targets)
        missing = articles < 0
        redirected = _look_up(redirects[:, 0], redirects[:, 1], targets[missing], default=0)
        articles[missing] = _look_up(hashes[order], order, redirected)
        rows = np.split(articles, np.frombuffer(self.link_ends, dtype=np.int64)[:-1])
        return [np.unique(row[(row >= 0) & (row != article)]).astype(np.int32) for article, row in enumerate(rows)]


def title_hash(title: str) -> int:
    """A 64-bit hash of a title."""
    return int.from_bytes(blake2b(title.encode(), digest_size=8).digest(), "big", signed=True)


def _look_up(keys: Ints, values: Ints, wanted: Ints, default: int = -1) -> Ints:
    """The values of the wanted keys in a table sorted by key."""
    if not len(keys):
        return np.full(len(wanted), default, dtype=np.int64)
    positions = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return np.where(keys[positions] == wanted, values[positions], default)


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
    """Build the set; articles with fewer than `min_links` links or `min_words` words are skipped."""
    with open_raw(raw) as files, CollectionWriter(out) as writer:
        dumps = files.require("*.xml", "*.xml.bz2", "*.xml.gz")
        graph = LinkGraph()
        for page in iterate_pages(dumps):
            if page.redirect:
                graph.redirect(page.title, page.redirect)
            elif not is_disambiguation(page.title, page.text):
                graph.add(page.title, link_targets(page.text))
        similar, linked = _choose(graph, threshold, min_links, min_similar, seed)
        chosen = {id for pair in similar for id in pair}
        for source in {min(pair) for pair in similar}:
            chosen.update(linked[source])
        for page in iterate_pages(dumps):
            id = page_id(page.title)
            if id in chosen and not page.redirect:
                record = RawDocument(id, page.title, wikitext_parts(page.text))
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
    """The similar pairs by id, and for each source the links from which its negatives are taken.

    Of a source's links only as many as needed are kept, plus a few spare ones in case some are too short.
    """
    outgoing = graph.outgoing()
    eligible = [article for article, row in enumerate(outgoing) if len(row) >= min_links]
    sets = [outgoing[article] for article in eligible]
    pairs = [(eligible[i], eligible[j]) for i, j, _ in similar_pairs(sets, threshold)]
    while True:  # a dropped article may leave its partners with too few
        degree = Counter(article for pair in pairs for article in pair)
        remaining = [(i, j) for i, j in pairs if min(degree[i], degree[j]) >= min_similar]
        if len(remaining) == len(pairs):
            break
        pairs = remaining
    similar = sorted((min(a, b), max(a, b)) for a, b in ((graph.id(i), graph.id(j)) for i, j in pairs))
    needed = Counter(source for source, _ in similar)
    articles = {graph.id(article): article for pair in pairs for article in pair}
    similar_set = set(similar)
    linked = {}
    for source, count in needed.items():
        targets = [graph.id(int(article)) for article in outgoing[articles[source]]]
        linked[source] = linked_negatives(source, targets, similar_set, seed)[: count + _SPARE_NEGATIVES]
    return similar, linked
