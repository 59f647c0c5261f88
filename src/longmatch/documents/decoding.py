"""Bytes to text: UTF-8 where it is valid, else what the bytes themselves suggest."""

import codecs
import re
from pathlib import Path

from longmatch.documents.checks import check_file
from longmatch.documents.language import detect_language
from longmatch.errors import ReadError

_MARKS = {  # the four-byte marks first: UTF-32's begins like UTF-16's
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_OTHER_SCRIPTS = ["gb18030", "big5", "shift_jis", "euc_jp", "euc_kr", "cp1251", "koi8_r", "cp1253"]
_CENTRAL = {"pl": "cp1250", "tr": "cp1254"}  # Latin letters that Windows-1252 lacks
_SAMPLE = 65_536
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f-\x84\x86-\x9f]")
_HIGH = re.compile(rb"[\x80-\xff]+")


def read_bytes(path: Path) -> bytes:
    """The file's bytes, or a sentence saying why there are none."""
    check_file(path)
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ReadError(path, f"cannot be opened ({error.strerror})", "Check that you may read it.") from error
    if not data.strip():
        raise ReadError(path, "is empty", "Leave it out, or put text in it.")
    return data


def read_text(path: Path, encoding: str | None = None) -> str:
    """The file's text, newlines as they are, without a byte order mark."""
    return decode(read_bytes(path), path, encoding)


def decode(data: bytes, path: object, encoding: str | None = None) -> str:
    """The text that bytes stand for. `encoding` is what the file says of itself; it is not trusted blindly.

    >>> decode("Übergröße für Änderungen".encode("latin-1"), "a.txt")
    'Übergröße für Änderungen'
    """
    text = _decoded(data, encoding)
    if text is None or len(_CONTROL.findall(text[:_SAMPLE])) > 0.005 * len(text[:_SAMPLE]):
        raise ReadError(path, "is not text", "Its name says text, but its content is binary: give it its right suffix.")
    if not text.strip():
        raise ReadError(path, "is empty", "Leave it out, or put text in it.")
    return text


def _decoded(data: bytes, encoding: str | None) -> str | None:
    for mark, name in _MARKS.items():
        if data.startswith(mark):
            return data.decode(name, errors="replace").removeprefix("\ufeff")
    if b"\0" in data[:_SAMPLE] or data.startswith((b"%PDF-", b"PK\x03\x04", b"\x1f\x8b")):
        return None
    text = _try(data, "utf-8") or _try(data, encoding or "ascii")
    if text is not None:
        return text
    lossy = data.decode("utf-8", errors="replace")
    if sum(c > "\x7f" for c in lossy) > 10 * lossy.count("\ufffd"):  # UTF-8 with a damaged character here and there
        return lossy
    return data.decode(_guess(data[:_SAMPLE]), errors="replace")


def _try(data: bytes, name: str) -> str | None:
    try:
        return data.decode("cp1252" if name.lower() in {"iso-8859-1", "latin-1", "latin1"} else name)
    except (UnicodeDecodeError, LookupError):
        return None


def _guess(sample: bytes) -> str:
    """Letters from beyond ASCII are scattered in western text, and stand in runs in any other script."""
    from charset_normalizer import from_bytes

    runs = [len(run) for run in _HIGH.findall(sample)]
    if 2 * sum(run for run in runs if run >= 4) > sum(runs):
        found = from_bytes(sample, cp_isolation=_OTHER_SCRIPTS).best()
        if found is not None:
            return found.encoding
    western = sample.decode("cp1252", errors="replace")
    return _CENTRAL.get(detect_language(western), "cp1252")
