"""Reads XML that strangers wrote: no entities of the file's own, nothing fetched, one element in memory at a time."""

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

CHUNK = 1 << 16  # bytes fed to the parser at a time
LARGEST = 1 << 28  # characters one element may hold
DEEPEST = 256  # levels of nesting one element may have


class _Refused(Exception):
    """The file asks for something that is not granted; the message says what."""


class _Collector:
    """Builds the elements of one tag, or the root where no tag is given, and lets go of all else."""

    def __init__(self, tag: str | None) -> None:
        self.tag = tag
        self.done: deque[Element] = deque()
        self._builder: TreeBuilder | None = None
        self._depth = 0
        self._held = 0
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
            self._builder, self._depth, self._held = TreeBuilder(), 0, 0
        self._depth += 1
        if self._depth > DEEPEST:
            raise _Refused(f"nests elements more than {DEEPEST} deep")
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
        self._held += len(text)
        if self._held > LARGEST:
            raise _Refused(f"holds an element of more than {LARGEST:,} characters")
        self._builder.data(text)

    def _entity(self, *_: object) -> None:
        raise _Refused("declares entities of its own, which are not expanded")

    def _external(self, *_: object) -> int:
        raise _Refused("refers to a file outside, which is not fetched")

    def _skipped(self, name: str, parameter: bool) -> None:
        """A name such as &nbsp; that the document type, which is not read, would declare."""
        if not parameter:
            self._data(html.unescape(f"&{name};"))


def iterate_elements(stream: BinaryIO, tag: str | None, name: object) -> Iterator[Element]:
    """The elements called `tag`, each with all it holds, in order; `name` is the file's name, for errors."""
    collector = _Collector(tag)
    try:
        while chunk := stream.read(CHUNK):
            collector.parser.Parse(chunk, False)
            while collector.done:
                yield collector.done.popleft()
        collector.parser.Parse(b"", True)
        yield from collector.done
    except _Refused as refusal:
        raise ReadError(name, str(refusal), "Nothing was read from it.") from None
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
    """All text under an element, white space made single; empty where there is no element."""
    return " ".join("".join(element.itertext()).split()) if element is not None else ""
