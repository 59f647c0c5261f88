"""What becomes of one file."""

import tempfile
import traceback
import warnings
from pathlib import Path

from longmatch.documents.read import read_all
from longmatch.errors import ReadError

SECONDS = 10.0  # after which a reader hangs


def outcome_of(content: bytes, suffix: str) -> str:
    """Read a file: `read`, `refused`, or `traceback:` with its last lines."""
    refused: list[ReadError] = []
    with tempfile.TemporaryDirectory(prefix="longmatch-fuzz-") as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        path = Path(folder) / f"damaged{suffix}"
        path.write_bytes(content)
        try:
            for _ in read_all(path, refused.append):
                pass
        except ReadError:
            return "refused"
        except Exception:  # the find: a reader has no other way to fail
            return f"traceback: {' / '.join(traceback.format_exc().strip().splitlines()[-3:])}"
    return "refused" if refused else "read"
