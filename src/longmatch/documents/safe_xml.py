"""XML from strangers: no entities of its own, no external ones, no bottomless nesting."""

from html.entities import html5
from xml.etree.ElementTree import Element, ParseError, TreeBuilder, XMLParser
from xml.parsers import expat

DEEPEST = 250  # elements inside each other; office suites and publishers stay below fifty
MOST_ELEMENTS = 2_000_000  # each takes memory that its few bytes do not show; a long book has some hundred thousand
_NAMED = {name.removesuffix(";"): text for name, text in html5.items() if name.endswith(";")}


class TooDeep(ValueError):
    """Elements nested deeper than in any ordinary document."""


class TooMany(ValueError):
    """More elements than any ordinary document has."""


def parse_xml(data: bytes) -> Element:
    """Parse XML and strip namespaces: `w:p` becomes `p` in every version of the standard. Of two attributes that then
    have one name, the one that has a namespace keeps it.

    A document type may be named, as journals do, but is not fetched; named characters such as `&nbsp;` are known
    without it. Raises ParseError where a document defines entities, TooDeep where it is nested too deeply.

    >>> parse_xml(b"<!DOCTYPE p SYSTEM 'p.dtd'><x:p xmlns:x='urn:x'>a&alpha;</x:p>").text
    'aα'
    """
    _refuse_entities(data)
    parser = XMLParser(target=_BoundedBuilder())
    parser.entity.update(_NAMED)
    parser.feed(data)
    root: Element = parser.close()
    for element in root.iter():
        element.tag = _local(element.tag)
        if element.attrib:
            element.attrib = _local_names(element.attrib)
    return root


def _local_names(attributes: dict[str, str]) -> dict[str, str]:
    """The attributes by their local names, where these are not taken by one without a namespace."""
    return {name if (local := _local(name)) in attributes else local: value for name, value in attributes.items()}


def _local(name: str) -> str:
    return name.rpartition("}")[2]


class _BoundedBuilder(TreeBuilder):
    """Builds the tree, as deep as is ordinary."""

    def __init__(self) -> None:
        super().__init__()
        self._depth = self._count = 0

    def start(self, tag: str, attrs: dict[str, str], /) -> Element:
        """Open an element."""
        self._depth += 1
        self._count += 1
        if self._count > MOST_ELEMENTS:
            raise TooMany(f"more than {MOST_ELEMENTS:,} elements")
        if self._depth > DEEPEST:
            raise TooDeep(f"more than {DEEPEST} elements inside each other")
        return super().start(tag, attrs)

    def end(self, tag: str, /) -> Element:
        """Close an element."""
        self._depth -= 1
        return super().end(tag)


class _RootReached(Exception):
    """The prolog, the only place where entities can be defined, is over."""


def _refuse_entities(data: bytes) -> None:
    parser = expat.ParserCreate()
    parser.EntityDeclHandler = _on_entity
    parser.StartElementHandler = _on_root
    try:
        parser.Parse(data, True)
    except _RootReached:
        return
    except expat.ExpatError as error:
        raise ParseError(str(error)) from error


def _on_entity(
    name: str,
    is_parameter: bool,
    value: str | None,
    base: str | None,
    system: str | None,
    public: str | None,
    notation: str | None,
) -> None:
    if notation is None:  # others name a picture beside the file, and stand for no text
        raise ParseError(f"the entity {name} is not allowed")


def _on_root(name: str, attributes: dict[str, str]) -> None:
    raise _RootReached
