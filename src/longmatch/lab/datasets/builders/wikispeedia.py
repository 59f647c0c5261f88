"""wiki: Wikipedia for Schools and its links, from Wikispeedia (the WIKI protocol of CoLDE and SMITH).

Reads the unpacked files of SNAP's Wikispeedia (West & Leskovec 2012):

    wikispeedia_paths-and-graph/articles.tsv, links.tsv, categories.tsv
        comment lines start with #; names are percent-encoded; links: source, target; categories: article, category
    wpcd/wp/<letter>/<Name>.htm     the articles as web pages, or
    plaintext_articles/<Name>.txt   as text: section titles at the margin, paragraphs indented by three blanks

Rule: tables, link boxes, and reference and link sections are dropped; sections begin at h2 to h6; articles with the
same text are merged. Articles are similar if both have at least five outgoing links and the Jaccard similarity of these
is above 0.25, over all links and (with web pages) also over the links inside the text; on a closed corpus of this size
the papers' 0.5 leaves too few pairs. The negative is an article the source links to that is not similar.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from hashlib import sha256
from html.parser import HTMLParser
from pathlib import Path, PurePosixPath
from urllib.parse import unquote

import numpy as np

from longmatch.lab.datasets.raw_files import open_raw
from longmatch.lab.datasets.records import Part, RawDocument, iterate_lines
from longmatch.lab.datasets.sections import LINK_LISTS, clean_parts, collapse_spaces
from longmatch.lab.datasets.similar_sets import jaccard, similar_pairs
from longmatch.lab.datasets.splits import DEFAULT, label_similar
from longmatch.lab.datasets.writer import CollectionWriter, Summary

Links = Mapping[str, set[str]]

_HEADINGS = {"h2", "h3", "h4", "h5", "h6"}
_BLOCKS = {"p", "li", "dd", "dt", "blockquote", "pre", "div", "br"}
_SKIPPED = {"table", "script", "style", "sup", "h1", "head", "form"}
_BOXES = {
    "navbox", "infobox", "noprint", "editsection", "thumb", "toc", "printfooter", "catlinks", "metadata", "gallery",
    "siteSub", "jump-to-nav", "footer",
}  # fmt: skip
_VOID = {"br", "hr", "img", "input", "link", "meta", "area", "base", "col", "embed", "source", "wbr"}


def build(raw: Path, out: Path, *, threshold: float = 0.25, min_links: int = 5, seed: int = 0) -> Summary:
    """Build the set."""
    with open_raw(raw) as files, CollectionWriter(out) as writer:
        names = [row[0] for row in _table(files.require_one("articles.tsv"))]
        pages = {unquote(path.stem): path for path in files.require("wp/*/*.htm", "plaintext_articles/*.txt")[::-1]}
        merged: dict[str, str] = {}  # article -> the first one with the same text
        texts: dict[bytes, str] = {}
        links_in_text: dict[str, set[str]] = {}
        for name in names:
            if name not in pages:
                writer.skip()
                continue
            text = pages[name].read_bytes().decode("utf-8", errors="replace")
            if pages[name].suffix == ".txt":
                parts, links = clean_parts(_plain_sections(text), LINK_LISTS), set[str]()
            else:
                parts, links = parse_page(text)
            digest = sha256(repr(parts).encode()).digest()
            merged[name] = texts.setdefault(digest, name)
            if merged[name] == name and writer.add(RawDocument(name, name.replace("_", " "), parts)):
                links_in_text[name] = links
        linked: dict[str, set[str]] = defaultdict(set)
        for row in _table(files.require_one("links.tsv")):
            source, target = merged.get(row[0], ""), merged.get(row[1], "")
            if {source, target} <= writer.ids and source != target:
                linked[source].add(target)
        in_text = {a: {merged[b] for b in targets if b in merged} - {a} for a, targets in links_in_text.items()}
        label_similar(writer, _similar(linked, in_text, threshold, min_links), linked, DEFAULT, seed)
        writer.table("links.tsv", ("source", "target"), ((a, b) for a in sorted(linked) for b in sorted(linked[a])))
        categories = (row for path in files.find("categories.tsv") for row in _table(path))
        rows = sorted({(row[0], row[1]) for row in categories if row[0] in writer.ids})
        writer.table("categories.tsv", ("article", "category"), rows)
        return writer.finish()


def _table(path: Path) -> Iterator[list[str]]:
    for _, line in iterate_lines(path):
        if line and not line.startswith("#"):
            yield [unquote(cell) for cell in line.split("\t")]


def _plain_sections(text: str) -> Iterator[Part]:
    """The sections of a plain-text article, which begins with a copyright notice, the title and the subjects."""
    blocks = re.split(r"\n[ \t]*\n", text)
    front_end = next((n for n, block in enumerate(blocks) if "Schools Wikipedia Selection" in block), -1)
    heading, texts = "", list[str]()
    for block in blocks[front_end + 1 :]:
        if not block.strip() or collapse_spaces(block).startswith(("Retrieved from", "This reference article")):
            continue
        if block.lstrip("\n")[0].isspace():
            texts.append(collapse_spaces(block))
        else:
            yield Part(heading, "\n\n".join(texts))
            heading, texts = collapse_spaces(block), []
    yield Part(heading, "\n\n".join(texts))


class _ArticleParser(HTMLParser):
    """Collects the text of an article's web page by paragraphs, and its links, without tables and boxes."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[tuple[str, list[str]]] = [("", [])]
        self.links: set[str] = set()
        self._text: list[str] = []
        self._open: list[tuple[str, bool]] = []  # the open tags, and whether each hides its content
        self._hidden = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        if tag in _HEADINGS or tag in _BLOCKS:
            self.flush()
        if tag == "a" and not self._hidden:
            path = PurePosixPath(unquote(values.get("href", "").partition("#")[0]))
            if path.suffix in {".htm", ".html"} and "wp" in path.parts:
                self.links.add(unquote(path.stem))
        if tag not in _VOID:
            hides = tag in _SKIPPED or bool(_BOXES & {*values.get("class", "").split(), values.get("id", "")})
            self._open.append((tag, hides))
            self._hidden += hides

    def handle_endtag(self, tag: str) -> None:
        if tag in _HEADINGS and not self._hidden:
            self.parts.append((collapse_spaces("".join(self._text)), []))
            self._text = []
        elif tag in _BLOCKS:
            self.flush()
        if any(tag == open_tag for open_tag, _ in self._open):  # unclosed tags end with the tag around them
            while self._open:
                open_tag, hides = self._open.pop()
                self._hidden -= hides
                if open_tag == tag:
                    break

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            self._text.append(data)

    def flush(self) -> None:
        """End the current paragraph."""
        text = collapse_spaces("".join(self._text))
        self._text = []
        if text:
            self.parts[-1][1].append(text)


def parse_page(page: str) -> tuple[tuple[Part, ...], set[str]]:
    """The sections of an article's web page, without reference and link sections, and the articles it links to.

    >>> parse_page('<h1>Ape</h1><table><tr><td>box</td></tr></table>'
    ...            '<p>Apes eat <a href="../../wp/f/Fig.htm">figs</a>.<h2>Biology</h2>'
    ...            '<p>Arms.</p><h2>See also</h2><p>Man</p>')
    ((Part(heading='', text='Apes eat figs.'), Part(heading='Biology', text='Arms.')), {'Fig'})
    """
    parser = _ArticleParser()
    parser.feed(page)
    parser.close()
    parser.flush()
    return clean_parts((Part(heading, "\n\n".join(texts)) for heading, texts in parser.parts), LINK_LISTS), parser.links


def _similar(linked: Links, in_text: Links, threshold: float, min_links: int) -> Iterator[tuple[str, str]]:
    """The pairs above the threshold on all links and, if known, on the links inside the text."""
    names = sorted({*linked, *(target for targets in linked.values() for target in targets)})
    index = {name: n for n, name in enumerate(names)}
    sources = sorted(source for source, targets in linked.items() if len(targets) >= min_links)
    has_text_links = any(in_text.values())

    def target_set(links: Links, name: str) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        return np.array(sorted(index[target] for target in links.get(name, ()) if target in index), dtype=np.int64)

    for i, j, _ in similar_pairs([target_set(linked, name) for name in sources], threshold):
        a, b = target_set(in_text, sources[i]), target_set(in_text, sources[j])
        similar_text = min(len(a), len(b)) >= min_links and jaccard(a, b) > threshold
        if similar_text or not has_text_links:
            yield sources[i], sources[j]
