"""What the storage of a library reports, as one sentence."""

import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager

from longmatch.library.errors import LibraryError
from longmatch.library.store_checks import StoreChecks

_DISK_FULL = re.compile(
    r"No space left|requested and \d+ written|StorageFull|File too large|os error 2[78]\b|quota exceeded", re.I
)
_FORBIDDEN = re.compile(r"Permission denied|Read-only file system|os error (?:13|30|1)\b|AccessDenied", re.IGNORECASE)
_UNREACHABLE = re.compile(
    r"NoSuchBucket|error sending request|connect|timed? ?out|dns|credential|InvalidAccessKeyId|Signature|40[134]\b",
    re.IGNORECASE,
)


@contextmanager
def storage_errors(address: object) -> Iterator[None]:
    """Turn errors of the storage into a LibraryError of one sentence."""
    try:
        yield
    except MemoryError as error:
        raise LibraryError(f"There is not enough memory for {address}. End other programs, and run again.") from error
    except (OSError, RuntimeError, ValueError) as error:
        raise LibraryError(_sentence(str(address), f"{type(error).__name__}: {error}")) from error
    except BaseException as error:
        if type(error).__name__ != "PanicException":  # of the storage's own language; it is no Exception
            raise
        raise LibraryError(_sentence(str(address), f"{type(error).__name__}: {error}")) from error


def _sentence(address: str, reason: str) -> str:
    """What has gone wrong. Whether files are damaged, their checksums say, and no word of the engine."""
    if damaged := StoreChecks(address).first_damaged():
        return f"{address}/{damaged} Restore it from a backup, or remove {address} and index again."
    if _DISK_FULL.search(reason) or _is_full(address):
        return f"The disk of {address} is full. Free some space and run again: what was stored stays."
    if _FORBIDDEN.search(reason):
        return f"{address} cannot be written. Check its permissions, or name another folder."
    if "://" in address and _UNREACHABLE.search(reason):
        return (
            f"{address} cannot be reached. Check the name and the environment variables of the storage: "
            "AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_REGION and, outside Amazon, AWS_ENDPOINT."
        )
    return (
        f"{address} could not be used ({_shortened(reason)}); its files are not known to be damaged. Run again, and "
        "report this if it comes back."
    )


def _is_full(address: str) -> bool:
    try:
        return shutil.disk_usage(address).free < 1 << 16
    except OSError:
        return False


def _shortened(reason: str) -> str:
    line = " ".join(reason.split())
    return line[:120].rstrip(". ") + ("…" if len(line) > 120 else "")
