"""Decode bytes to text: UTF-8 where valid, otherwise the encoding the bytes suggest; no halves of characters."""

import codecs
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from longmatch.documents.checks import LARGEST_FILE, check_file, too_large
from longmatch.documents.language import detect_language
from longmatch.errors import ReadError

_BYTE_ORDER_MARKS = {  # UTF-32 first: its little-endian mark begins with UTF-16's
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_OTHER_SCRIPTS = ["gb18030", "big5", "shift_jis", "euc_jp", "euc_kr", "cp1251", "koi8_r", "cp1253"]
_OTHER_LATIN = {"pl": "cp1250", "tr": "cp1254"}  # languages with Latin letters that Windows-1252 lacks
_SAMPLE = 65_536
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f-\x84\x86-\x9f]")
_NON_ASCII = re.compile(rb"[\x80-\xff]+")
_HALVES = re.compile("[\ud800-\udfff]")


def read_bytes(path: Path) -> bytes:
    """Read a file's bytes; raise ReadError if it is missing, unreadable, empty or too large."""
    if check_file(path).st_size > LARGEST_FILE:
        raise too_large(path)
    try:
        with path.open("rb") as file:
            data = file.read(LARGEST_FILE + 1)
    except OSError as error:
        raise ReadError(path, f"cannot be opened ({error.strerror})", "Check its permissions.") from error
    if len(data) > LARGEST_FILE:  # it grows
        raise too_large(path)
    if not data.strip():
        raise ReadError(path, "is empty", "Leave it out, or put text in it.")
    return data


def read_text(path: Path) -> str:
    """Read a file's text, newlines unchanged, without a byte order mark."""
    return decode(read_bytes(path), path)


def decode(data: bytes, path: object, encoding: str | None = None) -> str:
    """Decode bytes to text.

    `encoding` is what the file declares; UTF-8 is tried first. `path` names the file in error messages.

    >>> decode("Übergröße für Änderungen".encode("latin-1"), "a.txt")
    'Übergröße für Änderungen'
    """
    text = _decode_any(data, encoding)
    if text is None or len(_CONTROL.findall(text[:_SAMPLE])) > 0.005 * len(text[:_SAMPLE]):
        raise ReadError(path, "is not text", "Its content is binary; give it the right file extension.")
    if not text.strip():
        raise ReadError(path, "is empty", "Leave it out, or put text in it.")
    return text


def _decode_any(data: bytes, encoding: str | None) -> str | None:
    """Decode with the first encoding that fits; None for binary data."""
    for mark, name in _BYTE_ORDER_MARKS.items():
        if data.startswith(mark):
            return data.decode(name, errors="replace").removeprefix("\ufeff")
    if b"\0" in data[:_SAMPLE] or data.startswith((b"%PDF-", b"PK\x03\x04", b"\x1f\x8b")):
        return None
    text = _try_decode(data, "utf-8") or _try_decode(data, encoding or "ascii")
    if text is not None:
        return text
    lossy = data.decode("utf-8", errors="replace")
    if sum(c > "\x7f" for c in lossy) > 10 * lossy.count("\ufffd"):  # UTF-8 with a few damaged characters
        return lossy
    return data.decode(_guess_encoding(data[:_SAMPLE]), errors="replace")


def _try_decode(data: bytes, name: str) -> str | None:
    try:
        return data.decode("cp1252" if name.lower() in {"iso-8859-1", "latin-1", "latin1"} else name)
    except (UnicodeDecodeError, LookupError):
        return None


def _guess_encoding(sample: bytes) -> str:
    """Non-ASCII bytes are scattered in Latin-script text and form long runs in other scripts."""
    from charset_normalizer import from_bytes

    runs = [len(run) for run in _NON_ASCII.findall(sample)]
    if 2 * sum(run for run in runs if run >= 4) > sum(runs):
        guess = from_bytes(sample, cp_isolation=_OTHER_SCRIPTS).best()
        if guess is not None:
            return guess.encoding
    western = sample.decode("cp1252", errors="replace")
    return _OTHER_LATIN.get(detect_language(western), "cp1252")


def whole(text: str) -> str:
    """The text with the replacement character for each half.

    >>> whole("rain \\ud83d") == "rain \\N{REPLACEMENT CHARACTER}"
    True
    """
    return _HALVES.sub("\N{REPLACEMENT CHARACTER}", text)


def whole_values(value: Any) -> Any:
    """JSON with every string made whole.

    >>> whole_values({"tags": ["rain\\ud83d", 1]}) == {"tags": ["rain\\N{REPLACEMENT CHARACTER}", 1]}
    True
    """
    if isinstance(value, str):
        return whole(value)
    if isinstance(value, Mapping):
        return {whole_values(key): whole_values(item) for key, item in value.items()}
    return [whole_values(item) for item in value] if isinstance(value, list | tuple) else value
