"""An HTML page read back with the standard library's parser."""

from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = {"meta", "link", "br", "img", "input", "rect", "path", "hr"}


@dataclass
class Element:
    """A tag, its attributes, and the text in it and below it."""

    tag: str
    attributes: dict[str, str]
    inside: tuple[str, ...]  # the classes of the elements around it
    text: str = ""


@dataclass
class Page(HTMLParser):
    """Every element of a page in order, and how many tags were left open."""

    elements: list[Element] = field(default_factory=list)

    def __post_init__(self):
        super().__init__(convert_charrefs=True)
        self.stack: list[Element] = []
        self.unmatched: list[str] = []

    @staticmethod
    def of(html: str) -> "Page":
        page = Page()
        page.feed(html)
        page.close()
        return page

    def handle_starttag(self, tag, attrs):
        inside = tuple(e.attributes.get("class", "") for e in self.stack)
        element = Element(tag, {name: value or "" for name, value in attrs}, inside)
        self.elements.append(element)
        if tag not in VOID:
            self.stack.append(element)

    def handle_startendtag(self, tag, attrs):
        inside = tuple(e.attributes.get("class", "") for e in self.stack)
        self.elements.append(Element(tag, {name: value or "" for name, value in attrs}, inside))

    def handle_endtag(self, tag):
        if self.stack and self.stack[-1].tag == tag:
            self.stack.pop()
        elif tag not in VOID:
            self.unmatched.append(tag)

    def handle_data(self, data):
        for element in self.stack:
            element.text += data

    def find(self, tag: str, **attributes: str) -> list[Element]:
        wanted = {name.rstrip("_").replace("_", "-"): value for name, value in attributes.items()}
        return [
            e
            for e in self.elements
            if e.tag == tag and all(value in e.attributes.get(name, "").split(" ") for name, value in wanted.items())
        ]
