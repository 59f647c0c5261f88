"""What goes wrong with a library, as one sentence."""

import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager

from longmatch.errors import LongmatchError

_FULL = re.compile(r"No space left|requested and \d+ written|StorageFull|File too large|os error 2[78]\b|quota", re.I)
_FORBIDDEN = re.compile(r"Permission denied|Read-only file system|os error (?:13|30|1)\b|AccessDenied", re.IGNORECASE)
_AWAY = re.compile(
    r"NoSuchBucket|error sending request|connect|timed? ?out|dns|credential|InvalidAccessKeyId|Signature|40[134]\b",
    re.IGNORECASE,
)
_FILTER = re.compile(r"Invalid user input|Schema error|No field named|SQL|parse", re.IGNORECASE)


class LibraryError(LongmatchError):
    """A library that cannot do what was asked."""


class NotALibrary(LibraryError):
    """A place that holds no library."""


@contextmanager
def in_a_sentence(address: object) -> Iterator[None]:
    """Turn the store's own complaints into one sentence; what the library held stays as it was."""
    try:
        yield
    except (OSError, RuntimeError, ValueError, MemoryError) as error:
        raise LibraryError(_sentence(address, f"{type(error).__name__}: {error}")) from error


def _sentence(address: object, reason: str) -> str:
    if _FULL.search(reason) or _is_full(str(address)):
        return f"There is no room left on the disk of {address}. Free some and run again: what was stored stays."
    if _FORBIDDEN.search(reason):
        return f"{address} cannot be written. Check its permissions, or name another folder."
    if "://" in str(address) and _AWAY.search(reason):
        return (
            f"{address} cannot be reached. Check the name, and what the environment says of the storage: "
            "AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_REGION and, for other than Amazon's, AWS_ENDPOINT."
        )
    return (
        f"{address} is damaged or cannot be read ({_short(reason)}). "
        f"Put its files back from a copy, or remove it and index again."
    )


def _is_full(address: str) -> bool:
    try:
        return shutil.disk_usage(address).free < 1 << 16
    except OSError:
        return False


def filter_error(where: str) -> LibraryError:
    """A condition the store does not understand."""
    return LibraryError(
        f"The condition {where!r} is not understood. Write it as in SQL, with the columns id, title, language, words, "
        "source and names of metadata: language = 'en' AND year > 2019."
    )


def is_filter_error(error: Exception) -> bool:
    """Whether the store complains about a condition."""
    return bool(_FILTER.search(str(error)))


def _short(reason: str) -> str:
    line = " ".join(reason.split())
    return line[:120].rstrip(". ") + ("…" if len(line) > 120 else "")
