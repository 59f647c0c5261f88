"""A digest of the code that results depend on, so that results of older code are made again and not believed."""

import hashlib
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).parent.parent
SCORING_CODE = (
    *("models", "models/hybrid", "models/lexical", "models/pooled", "models/sdr", "matching"),
    "models/statistics/calibration.json",
)


@cache
def code_digest(*places: str) -> str:
    """Of files of the package, and of the Python files of its folders.

    >>> code_digest("errors.py") == code_digest("errors.py") != code_digest("models")
    True
    """
    digest = hashlib.sha256()
    for place in places:
        path = PACKAGE / place
        for file in sorted(path.glob("*.py")) if path.is_dir() else [path]:
            digest.update(file.name.encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()[:12]
