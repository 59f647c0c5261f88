"""RTF as tokens: braces, control words, bytes of text; and the code pages its bytes are in."""

import codecs
import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

_TOKEN = re.compile(
    rb"\\(?P<word>[A-Za-z]{1,40})(?P<number>-?\d{1,10})?[ ]?"
    rb"|\\'(?P<byte>[0-9A-Fa-f]{2})"
    rb"|\\(?P<symbol>[^A-Za-z])"
    rb"|(?P<brace>[{}])"
    rb"|[\r\n\0]+"
    rb"|(?P<text>[^\\{}\r\n\0]+)"
    rb"|.",
    re.DOTALL,
)
FONT_CODE_PAGES = {  # by the font's character set
    77: "mac_roman",
    128: "cp932",
    129: "cp949",
    130: "johab",
    134: "gbk",
    136: "cp950",
    161: "cp1253",
    162: "cp1254",
    163: "cp1258",
    177: "cp1255",
    178: "cp1256",
    186: "cp1257",
    204: "cp1251",
    222: "cp874",
    238: "cp1250",
    255: "cp437",
}
_DOCUMENT_CHARSETS = {"ansi": "cp1252", "mac": "mac_roman", "pc": "cp437", "pca": "cp850"}


class Token(NamedTuple):
    """A piece of RTF."""

    kind: Literal["open", "close", "word", "symbol", "bytes"]
    text: bytes
    number: int | None = None  # of a control word


def tokens(data: bytes) -> Iterator[Token]:
    r"""The tokens of a file; binary data and line ends of the file itself are left out.

    >>> [(t.kind, t.text, t.number) for t in tokens(rb"{\b0 a\'e9}")]
    [('open', b'{', None), ('word', b'b', 0), ('bytes', b'a', None), ('bytes', b'\xe9', None), ('close', b'}', None)]
    """
    position = 0
    while match := _TOKEN.match(data, position):
        position = match.end()
        if match["word"]:
            number = int(match["number"]) if match["number"] else None
            if match["word"] == b"bin":
                position += max(0, number or 0)
            else:
                yield Token("word", match["word"], number)
        elif match["text"]:
            yield Token("bytes", match["text"])
        elif match["byte"]:
            yield Token("bytes", bytes([int(match["byte"], 16)]))
        elif match["symbol"]:
            yield Token("symbol", match["symbol"])
        elif match["brace"]:
            yield Token("open" if match["brace"] == b"{" else "close", match["brace"])


def document_code_page(word: str, number: int | None) -> str:
    """The code page that a control word sets for the whole document; empty for other words.

    >>> document_code_page("ansicpg", 1251), document_code_page("mac", None), document_code_page("ansicpg", 7)
    ('cp1251', 'mac_roman', 'cp1252')
    """
    if word != "ansicpg":
        return _DOCUMENT_CHARSETS.get(word, "")
    name = "utf-8" if number == 65001 else f"cp{number}"
    try:
        return codecs.lookup(name).name
    except LookupError:
        return "cp1252"
