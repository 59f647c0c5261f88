"""A digest of the code that results depend on, so that results of older code are made again and not believed."""

import hashlib
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).parent.parent


@cache
def code_digest(*places: str) -> str:
    """Of the Python files, and the folders' own files, of the package.

    >>> code_digest("errors.py") == code_digest("errors.py") != code_digest("models")
    True
    """
    digest = hashlib.sha256()
    for place in places:
        path = PACKAGE / place
        for file in sorted(path.glob("*.py")) if path.is_dir() else [path]:
            digest.update(file.name.encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()[:12]
