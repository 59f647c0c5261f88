"""Read untrusted XML: no custom entities, nothing fetched, one element in memory at a time."""

import html
import lzma
import zlib
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat

from longmatch.errors import ReadError
from longmatch.lab.datasets.records import open_binary

_CHUNK = 1 << 16  # bytes fed to the parser at a time
MAX_ELEMENT = 1 << 28  # characters of an element
MAX_DEPTH = 256  # levels of nesting in an element


class _Rejected(Exception):
    """The file uses a feature that is not allowed; the message says which."""


class _Collector:
    """Builds the elements with one tag, or the root if the tag is None, and discards all else."""

    def __init__(self, tag: str | None) -> None:
        self.tag = tag
        self.done: deque[Element] = deque()
        self._builder: TreeBuilder | None = None
        self._depth = 0
        self._length = 0
        self.parser = parser = expat.ParserCreate()
        parser.buffer_text = True
        parser.ordered_attributes = False
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._data
        parser.EntityDeclHandler = self._entity
        parser.ExternalEntityRefHandler = self._external
        parser.SkippedEntityHandler = self._skipped
        parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_NEVER)

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        if self._builder is None:
            if self.tag not in (None, tag):
                return
            self._builder, self._depth, self._length = TreeBuilder(), 0, 0
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise _Rejected(f"nests elements more than {MAX_DEPTH} deep")
        self._builder.start(tag, attributes)

    def _end(self, tag: str) -> None:
        if self._builder is None:
            return
        self._builder.end(tag)
        self._depth -= 1
        if not self._depth:
            self.done.append(self._builder.close())
            self._builder = None

    def _data(self, text: str) -> None:
        if self._builder is None:
            return
        self._length += len(text)
        if self._length > MAX_ELEMENT:
            raise _Rejected(f"holds an element of more than {MAX_ELEMENT:,} characters")
        self._builder.data(text)

    def _entity(self, *_: object) -> None:
        raise _Rejected("declares custom entities, which are not expanded")

    def _external(self, *_: object) -> int:
        raise _Rejected("refers to an external file, which is not fetched")

    def _skipped(self, name: str, parameter: bool) -> None:
        """Resolve a name such as &nbsp;, which the document type (not read) would declare."""
        if not parameter:
            self._data(html.unescape(f"&{name};"))


def iterate_elements(stream: BinaryIO, tag: str | None, name: object) -> Iterator[Element]:
    """The elements with the given tag, each with its content, in order; `name` is the file's name for errors."""
    collector = _Collector(tag)
    try:
        while chunk := stream.read(_CHUNK):
            collector.parser.Parse(chunk, False)
            while collector.done:
                yield collector.done.popleft()
        collector.parser.Parse(b"", True)
        yield from collector.done
    except _Rejected as rejection:
        raise ReadError(name, str(rejection), "Nothing was read from it.") from None
    except (EOFError, OSError, zlib.error, lzma.LZMAError) as error:
        raise ReadError(name, f"cannot be read to its end ({error})", "Fetch it again.") from error
    except expat.ExpatError as error:
        problem = f"is not well-formed XML ({expat.errors.messages[error.code]}, line {error.lineno})"
        raise ReadError(name, problem, "Fetch or unpack it again.") from error


def read_xml(path: Path) -> Element:
    """The root element of a small file."""
    with open_binary(path) as stream:
        return next(iterate_elements(stream, None, path))


def text_of(element: Element | None) -> str:
    """All text below an element, white space collapsed; empty for None."""
    return " ".join("".join(element.itertext()).split()) if element is not None else ""
