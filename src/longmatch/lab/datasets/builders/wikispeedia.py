"""wiki: Wikipedia for Schools and its links, as Wikispeedia has them (the WIKI protocol of CoLDE and SMITH).

Reads the unpacked files of SNAP's Wikispeedia (West & Leskovec 2012):

    wikispeedia_paths-and-graph/articles.tsv, links.tsv, categories.tsv
        comment lines start with #; names are percent-encoded; links: source, target; categories: article, category
    wpcd/wp/<letter>/<Name>.htm     the articles as web pages, or
    plaintext_articles/<Name>.txt   as text: sections' titles at the margin, paragraphs indented by three blanks

Rule: tables and link boxes are dropped, sections begin at h2 to h6, reference and link sections are dropped; articles
with the same text are merged. Similar: Jaccard of the outgoing links above 0.25, over all links and (where there are
web pages) over the links inside the text as well, both articles with five links or more; on a closed corpus of this
size the papers' 0.5 keeps too few pairs. Negative: an article the source links to that is not similar.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from urllib.parse import unquote

import numpy as np

from longmatch.lab.datasets.article_pages import article_page
from longmatch.lab.datasets.labelling import label_similar
from longmatch.lab.datasets.raw_files import RawFiles, opened
from longmatch.lab.datasets.records import Part, Record, iterate_lines
from longmatch.lab.datasets.sections import LINK_LISTS, joined, kept
from longmatch.lab.datasets.similar_sets import jaccard, similar_pairs
from longmatch.lab.datasets.splits import DEFAULT
from longmatch.lab.datasets.writer import CollectionWriter, Summary

Links = Mapping[str, set[str]]


def build(raw: Path, out: Path, *, threshold: float = 0.25, min_links: int = 5, seed: int = 0) -> Summary:
    """Build the set."""
    with opened(raw) as files, CollectionWriter(out) as writer:
        names = [row[0] for row in _table(files.one("articles.tsv"))]
        pages = {unquote(path.stem): path for path in files.some("wp/*/*.htm", "plaintext_articles/*.txt")[::-1]}
        same: dict[str, str] = {}  # each article to the one it is merged into
        texts: dict[bytes, str] = {}
        inside: dict[str, set[str]] = {}
        for name in names:
            if name not in pages:
                writer.skip()
                continue
            parts, links = _article(pages[name])
            text = sha256(repr(parts).encode()).digest()
            same[name] = texts.setdefault(text, name)
            if same[name] == name and writer.add(Record(name, name.replace("_", " "), parts)):
                inside[name] = links
        linked = _merged(files, same, writer.ids)
        in_text = {a: {same[b] for b in targets if b in same} - {a} for a, targets in inside.items()}
        label_similar(writer, _similar(linked, in_text, threshold, min_links), linked, DEFAULT, seed)
        writer.table("links.tsv", ("source", "target"), ((a, b) for a in sorted(linked) for b in sorted(linked[a])))
        categories = (row for path in files.each("categories.tsv") for row in _table(path))
        kept_rows = sorted({(row[0], row[1]) for row in categories if row[0] in writer.ids})
        writer.table("categories.tsv", ("article", "category"), kept_rows)
        return writer.finish()


def _table(path: Path) -> Iterator[list[str]]:
    for _, line in iterate_lines(path):
        if line and not line.startswith("#"):
            yield [unquote(cell) for cell in line.split("\t")]


def _article(path: Path) -> tuple[tuple[Part, ...], set[str]]:
    text = path.read_bytes().decode("utf-8", errors="replace")
    if path.suffix != ".txt":
        return article_page(text)
    return kept(_plain_sections(text), LINK_LISTS), set()


def _plain_sections(text: str) -> Iterator[Part]:
    """The sections of a plain-text article; its first lines are a copyright mark, the title and the subjects."""
    blocks = re.split(r"\n[ \t]*\n", text)
    first = next((at for at, block in enumerate(blocks) if "Schools Wikipedia Selection" in block), -1)
    heading, texts = "", list[str]()
    for block in blocks[first + 1 :]:
        if not block.strip() or joined(block).startswith(("Retrieved from", "This reference article")):
            continue
        if block.lstrip("\n")[0].isspace():
            texts.append(joined(block))
        else:
            yield Part(heading, "\n\n".join(texts))
            heading, texts = joined(block), []
    yield Part(heading, "\n\n".join(texts))


def _merged(files: RawFiles, same: Mapping[str, str], ids: set[str]) -> dict[str, set[str]]:
    linked: dict[str, set[str]] = defaultdict(set)
    for source, target, *_ in _table(files.one("links.tsv")):
        one, other = same.get(source), same.get(target)
        if one in ids and other in ids and one != other:
            linked[str(one)].add(str(other))
    return dict(linked)


def _similar(linked: Links, in_text: Links, threshold: float, min_links: int) -> Iterator[tuple[str, str]]:
    """The pairs above the threshold on all links and, where they are known, on the links inside the text."""
    number = {name: at for at, name in enumerate(sorted({*linked, *(b for ends in linked.values() for b in ends)}))}
    sources = sorted(source for source, targets in linked.items() if len(targets) >= min_links)
    know_inside = any(in_text.values())

    def row(links: Links, name: str) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        return np.array(sorted(number[target] for target in links.get(name, ()) if target in number), dtype=np.int64)

    for i, j, _ in similar_pairs([row(linked, name) for name in sources], threshold):
        one, other = row(in_text, sources[i]), row(in_text, sources[j])
        enough = min(len(one), len(other)) >= min_links and jaccard(one, other) > threshold
        if enough or not know_inside:
            yield sources[i], sources[j]
