"""A Wikipedia article as a web page: its running text in sections, and the articles linked inside that text."""

from html.parser import HTMLParser
from pathlib import PurePosixPath
from urllib.parse import unquote

from longmatch.lab.datasets.records import Part
from longmatch.lab.datasets.sections import LINK_LISTS, joined, kept

_HEADINGS = {"h2", "h3", "h4", "h5", "h6"}
_BLOCKS = {"p", "li", "dd", "dt", "blockquote", "pre", "div", "br"}
_UNREAD = {"table", "script", "style", "sup", "h1", "head", "form"}
_BOXES = {
    "navbox", "infobox", "noprint", "editsection", "thumb", "toc", "printfooter", "catlinks", "metadata", "gallery",
    "siteSub", "jump-to-nav", "footer",
}  # fmt: skip
_EMPTY = {"br", "hr", "img", "input", "link", "meta", "area", "base", "col", "embed", "source", "wbr"}


class _ArticleParser(HTMLParser):
    """Gathers text block by block; what stands in tables and boxes is passed over."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[tuple[str, list[str]]] = [("", [])]
        self.links: set[str] = set()
        self._pieces: list[str] = []
        self._open: list[tuple[str, bool]] = []  # the tags around, and whether each hides what it holds
        self._hidden = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag in _HEADINGS or tag in _BLOCKS:
            self.flush()
        if tag == "a" and not self._hidden:
            self._link(given.get("href", ""))
        if tag not in _EMPTY:
            hides = tag in _UNREAD or bool(_BOXES & {*given.get("class", "").split(), given.get("id", "")})
            self._open.append((tag, hides))
            self._hidden += hides

    def handle_endtag(self, tag: str) -> None:
        if tag in _HEADINGS and not self._hidden:
            self.parts.append((joined("".join(self._pieces)), []))
            self._pieces = []
        elif tag in _BLOCKS:
            self.flush()
        if any(tag == one for one, _ in self._open):  # tags left open end with the one around them
            while self._open:
                one, hides = self._open.pop()
                self._hidden -= hides
                if one == tag:
                    break

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            self._pieces.append(data)

    def flush(self) -> None:
        """End a paragraph."""
        text = joined("".join(self._pieces))
        self._pieces = []
        if text:
            self.parts[-1][1].append(text)

    def _link(self, href: str) -> None:
        path = PurePosixPath(unquote(href.partition("#")[0]))
        if path.suffix in {".htm", ".html"} and "wp" in path.parts:
            self.links.add(unquote(path.stem))


def article_page(page: str) -> tuple[tuple[Part, ...], set[str]]:
    """The sections of the page's article, reference and link sections dropped, and the names it links to.

    >>> article_page('<h1>Ape</h1><table><tr><td>box</td></tr></table>'
    ...              '<p>Apes eat <a href="../../wp/f/Fig.htm">figs</a>.<h2>Biology</h2>'
    ...              '<p>Arms.</p><h2>See also</h2><p>Man</p>')
    ((Part(heading='', text='Apes eat figs.'), Part(heading='Biology', text='Arms.')), {'Fig'})
    """
    parser = _ArticleParser()
    parser.feed(page)
    parser.close()
    parser.flush()
    return kept((Part(heading, "\n\n".join(texts)) for heading, texts in parser.parts), LINK_LISTS), parser.links
