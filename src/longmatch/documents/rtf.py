"""RTF: headings by style or outline level, footnotes, tables, text boxes; any code page, and Unicode."""

from copy import copy
from dataclasses import dataclass, field
from pathlib import Path

from longmatch.documents.archive import TooDeep, file_errors
from longmatch.documents.decoding import read_bytes
from longmatch.documents.draft import Draft
from longmatch.documents.metadata import bibliography
from longmatch.documents.rtf_tokens import FONT_CODE_PAGES, document_code_page, tokens
from longmatch.documents.styled import (
    StyledBlock,
    draft_styled,
    heading_level,
    inherited,
    line_emphasis,
    note_block,
    role_by_style,
    styled_table,
)
from longmatch.errors import ReadError

_MAGIC = b"{\\rtf"
_DEEPEST = 1_000  # groups inside each other
_LONGEST_NAME = 200  # characters, of a style
_CHARACTERS = {"tab": "\t", "line": "\n", "emdash": "—", "endash": "–", "bullet": "•"}
_CHARACTERS |= {"lquote": "‘", "rquote": "’", "ldblquote": "“", "rdblquote": "”"}
_CHARACTERS |= dict.fromkeys(("emspace", "enspace", "qmspace", "nestcell", "nestrow"), " ")
_SYMBOLS = {b"~": "\u00a0", b"_": "-"}
_ESCAPED = frozenset({b"{", b"}", b"\\"})  # bytes of text
_SKIPPED_NAMES = """
colortbl pict object header headerl headerr headerf footer footerl footerr footerf xe tc rxe txe listtext pntext
nonshppict filetbl revtbl fldinst ftnsep ftnsepc ftncn aftnsep aftnsepc aftncn bkmkstart bkmkend upr template
shprslt shpinst
"""
_SKIPPED = frozenset(_SKIPPED_NAMES.split())  # hold no text of the document; of a shape, that has its own
_PROPERTIES = frozenset({"title", "author", "keywords", "doccomm", "subject"})
_STARRED = frozenset({"shptxt", "ud", "shpinst"})  # read although marked as to be ignored by old readers


@dataclass
class _Style:
    """A paragraph style."""

    name: str = ""
    parent: int | None = None
    level: int = 0


@dataclass
class _Flow:
    """A stream of paragraphs: the body, a footnote or a text box."""

    blocks: list[StyledBlock] = field(default_factory=list)
    words: list[str] = field(default_factory=list)
    bold: int = 0  # characters of the paragraph that are bold
    plain: int = 0  # and those that are not
    after: list[StyledBlock] = field(default_factory=list)  # notes and boxes of the paragraph
    cell: list[StyledBlock] = field(default_factory=list)
    row: list[list[StyledBlock]] = field(default_factory=list)
    rows: list[list[list[StyledBlock]]] = field(default_factory=list)


@dataclass(slots=True)
class _State:
    """What a group inherits and leaves unchanged at its end."""

    flow: _Flow
    destination: str = "text"
    skipped: int = 1  # characters after a Unicode one that stand for it in old readers
    code_page: str = ""
    style: int = 0
    level: int | None = None
    in_table: bool = False
    is_bold: bool = False
    is_hidden: bool = False


def read_rtf(path: Path) -> Draft:
    """Read an RTF file."""
    data = read_bytes(path).lstrip(b"\xef\xbb\xbf \t\r\n")
    if not data.startswith(_MAGIC):
        raise ReadError(path, "is not an RTF file", "Give it the right file extension, or save it again.")
    with file_errors(path, "is damaged"):
        reader = _Reader()
        blocks = reader.read(data)
    draft = draft_styled(blocks, reader.property("title"))
    if reader.is_cut:
        draft.remarks.append(f"{path}: its end is missing, and what is there was read. Get a fresh copy.")
    draft.metadata = bibliography(
        [reader.property("author")],
        [str(reader.year)] if reader.year else [],
        [reader.property("doccomm"), reader.property("subject")],
        keywords=reader.property("keywords"),
    )
    return draft


class _Reader:
    """What is known at a place in the file."""

    def __init__(self) -> None:
        self._body = _Flow()
        self._state = _State(self._body)
        self._stack: list[_State] = []
        self._bytes = bytearray()  # text not yet decoded
        self._to_skip = 0
        self._is_starred = False
        self._code_page = "cp1252"
        self._fonts: dict[int, str] = {}  # code pages
        self._default_font = 0
        self._font = 0  # being defined
        self._styles: dict[int, _Style] = {}
        self._style = _Style()  # being defined
        self._style_number: int | None = 0
        self._properties: dict[str, list[str]] = {}
        self.year: int | None = None
        self.is_cut = False  # whether a group has not been closed

    def property(self, name: str) -> str:
        """A document property."""
        return " ".join("".join(self._properties.get(name, ())).split())

    def read(self, data: bytes) -> list[StyledBlock]:
        """The blocks of a file."""
        for token in tokens(data):
            if token.kind == "open":
                self._flush()
                if len(self._stack) >= _DEEPEST:
                    raise TooDeep(f"more than {_DEEPEST} groups inside each other")
                self._stack.append(self._state)
                self._state = copy(self._state)
                self._to_skip, self._is_starred = 0, False
            elif token.kind == "close":
                self._flush()
                if self._stack:
                    self._close()
            elif token.kind == "word":
                self._word(token.text.decode("ascii"), token.number)
            elif token.kind == "symbol":
                self._symbol(token.text)
            else:
                self._characters(token.text)
        self._flush()
        self.is_cut = bool(self._stack)
        while self._stack:
            self._close()
        self._end_paragraph(self._body)
        self._end_table(self._body)
        return self._body.blocks

    def _close(self) -> None:
        """A group is over; a footnote or a text box follows the paragraph it stands in."""
        ended, self._state = self._state, self._stack.pop()
        self._to_skip, self._is_starred = 0, False
        flow, outer = ended.flow, self._state.flow
        if flow is outer:
            return
        self._end_paragraph(flow, ended)
        self._end_table(flow)
        if ended.destination == "footnote":
            outer.after.append(note_block(flow.blocks))
        else:
            outer.after += flow.blocks

    def _symbol(self, symbol: bytes) -> None:
        if symbol == b"*":
            self._is_starred = True
        elif symbol in {b"\n", b"\r"}:
            self._word("par", None)
        elif symbol in _ESCAPED:
            self._characters(symbol)
        elif symbol in _SYMBOLS and not self._skips():
            self._flush()
            self._text(_SYMBOLS[symbol])

    def _characters(self, data: bytes) -> None:
        if self._to_skip:
            gone = min(self._to_skip, len(data))
            self._to_skip -= gone
            data = data[gone:]
        if self._state.destination != "skip":
            self._bytes += data

    def _skips(self) -> bool:
        """Whether a character stands for a Unicode one that was already read."""
        if self._to_skip:
            self._to_skip -= 1
            return True
        return False

    def _flush(self) -> None:
        """Decode the bytes read so far."""
        if self._bytes:
            code_page = self._state.code_page or self._code_page
            text, self._bytes = bytes(self._bytes).decode(code_page, errors="replace"), bytearray()
            self._text(text)

    def _text(self, text: str) -> None:
        state = self._state
        destination = state.destination
        if destination in _PROPERTIES:
            self._properties.setdefault(destination, []).append(text)
        elif destination == "stylesheet":  # a style ends with its name and a semicolon
            if len(self._style.name) <= _LONGEST_NAME:
                self._style.name += text
            if ";" in text:
                self._style.name = self._style.name.partition(";")[0].strip().lower()
                if self._style_number is not None:
                    self._styles[self._style_number] = self._style
                self._style, self._style_number = _Style(), 0
        elif destination in {"text", "footnote"} and not state.is_hidden:
            flow = state.flow
            flow.words.append(text)
            if not text.isspace():
                flow.bold += state.is_bold * len(text)
                flow.plain += (not state.is_bold) * len(text)

    def _word(self, word: str, number: int | None) -> None:
        if word == "u":
            self._flush()
            self._to_skip = self._state.skipped
            self._text(chr((number or 0) & 0xFFFF))
            return
        if self._skips():
            return
        self._flush()
        starred, self._is_starred = self._is_starred, False
        state = self._state
        if state.destination == "skip" and word not in _STARRED:
            return
        if self._enter(word, starred):
            return
        if word in _CHARACTERS:
            self._text(_CHARACTERS[word])
        elif state.destination in {"stylesheet", "fonttbl"}:
            self._define(word, number)
        elif state.destination == "creatim":
            self.year = number if word == "yr" else self.year
        else:
            self._format(word, number)

    def _define(self, word: str, number: int | None) -> None:
        """Words in the tables of styles and of fonts."""
        if self._state.destination == "fonttbl":
            if word == "f":
                self._font = number or 0
            elif word == "fcharset":
                self._fonts[self._font] = FONT_CODE_PAGES.get(number or 0, "")
            elif word == "cpg":
                self._fonts[self._font] = document_code_page("ansicpg", number)
        elif word == "s":
            self._style_number = number or 0
        elif word in {"cs", "ds", "ts"}:  # styles of characters, sections and tables
            self._style_number = None
        elif word == "sbasedon":
            self._style.parent = number
        elif word == "outlinelevel":
            self._style.level = _outline_level(number)

    def _enter(self, word: str, starred: bool) -> bool:
        """Begin a destination, if the word names one."""
        state = self._state
        if word in {"fonttbl", "stylesheet", "creatim"} or (word in _PROPERTIES and state.destination == "info"):
            state.destination = word
        elif word in {"footnote", "shptxt"}:
            state.destination, state.flow = ("footnote" if word == "footnote" else "text"), _Flow()
            state.in_table = False
        elif word == "ud":
            state.destination = self._stack[-2].destination if len(self._stack) > 1 else "text"
        elif word == "info":
            state.destination = "info"
        elif word in _SKIPPED or (starred and word not in _STARRED):
            state.destination = "skip"
        else:
            return False
        return True

    def _format(self, word: str, number: int | None) -> None:
        """What text and paragraphs look like, and where paragraphs, cells and rows end."""
        state = self._state
        is_on = number != 0
        if word == "b":
            state.is_bold = is_on
        elif word in {"v", "deleted"}:
            state.is_hidden = is_on
        elif word == "plain":
            state.is_bold = state.is_hidden = False
            state.code_page = self._fonts.get(self._default_font, "")
        elif word == "deff":
            self._default_font = number or 0
        elif word == "pard":
            state.style, state.level, state.in_table = 0, None, False
        elif word == "s":
            state.style = number or 0
        elif word == "outlinelevel":
            state.level = _outline_level(number)
        elif word == "intbl":
            state.in_table = True
        elif word == "uc":
            state.skipped = max(0, min(number or 0, 100))
        elif word == "f":
            state.code_page = self._fonts.get(number or 0, "")
        elif code_page := document_code_page(word, number):
            self._code_page = code_page
        elif word in {"par", "sect", "page"}:
            self._end_paragraph(state.flow)
        elif word == "cell":
            state.in_table = True
            self._end_paragraph(state.flow)
            state.flow.row.append(state.flow.cell)
            state.flow.cell = []
        elif word == "row" and state.flow.row:
            state.flow.rows.append(state.flow.row)
            state.flow.row = []

    def _end_paragraph(self, flow: _Flow, state: _State | None = None) -> None:
        state = state or self._state
        # Characters beyond the first plane come as two halves each
        text = "".join(flow.words).encode("utf-16", "surrogatepass").decode("utf-16", "replace").strip()
        found: list[StyledBlock] = []
        if text:
            styles = inherited(self._styles, state.style, lambda style: style.parent)
            level = next(filter(None, (style.level or heading_level(style.name) for style in styles)), 0)
            names = frozenset(style.name for style in styles)
            role, level = role_by_style(names, level if state.level is None else state.level)
            emphasis = line_emphasis(text, is_bold=flow.bold > 0 and not flow.plain) if role == "text" else ""
            found.append(StyledBlock(text, role, level, emphasis))
        found += flow.after
        flow.words, flow.after, flow.bold, flow.plain = [], [], 0, 0
        if state.in_table:
            flow.cell += found
        elif found:
            self._end_table(flow)
            flow.blocks += found

    def _end_table(self, flow: _Flow) -> None:
        """Complete a table, also one whose last row was not ended."""
        if flow.cell:
            flow.row.append(flow.cell)
        if flow.row:
            flow.rows.append(flow.row)
        flow.blocks += styled_table(flow.rows)
        flow.cell, flow.row, flow.rows = [], [], []


def _outline_level(number: int | None) -> int:
    return (number or 0) + 1 if 0 <= (number or 0) < 9 else 0
