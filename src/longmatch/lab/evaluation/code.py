"""A digest of the code that results depend on, so that results of older code are made again and not believed."""

import ast
import hashlib
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).parents[2]
MATCHING = ("matching",)  # what all models score and explain with
LEXICAL_CODE = ("lexical", *MATCHING)
SENTENCE_CODE = ("sdr", "lab/baselines/pooled", *MATCHING)
DEFAULT_CODE = (
    *("default", "lexical", *MATCHING),
    *("default/data/calibration.json", "lexical/data/frequencies.safetensors"),
)


def home_of(thing: object) -> tuple[str, ...]:
    """The folder of the package that holds an object's class, and what all models score with.

    >>> from longmatch.lab.baselines.pooled.matcher import PooledMatcher
    >>> home_of(PooledMatcher.__new__(PooledMatcher))[0]
    'lab/baselines/pooled'
    """
    package, *folders = type(thing).__module__.split(".")[:-1] or [""]
    return ("/".join(folders), *MATCHING) if package == "longmatch" and folders else MATCHING


def homes_of(thing: object) -> tuple[str, ...]:
    """The same with the folders of all classes it is made from, each once, its own first.

    >>> from longmatch.lab.baselines.cross.matcher import CrossMatcher
    >>> homes_of(CrossMatcher.__new__(CrossMatcher))[0]
    'lab/baselines/cross'
    """
    modules = (kind.__module__.split(".") for kind in type(thing).__mro__)
    folders = ("/".join(parts[1:-1]) for parts in modules if parts[0] == "longmatch" and len(parts) > 3)
    return (*dict.fromkeys(folders), *MATCHING)


@cache
def code_digest(*places: str) -> str:
    """Of files of the package, and of the Python files of its folders.

    >>> code_digest("errors.py") == code_digest("errors.py") != code_digest("default")
    True
    """
    digest = hashlib.sha256()
    for place in places:
        path = PACKAGE / place
        for file in sorted(path.glob("*.py")) if path.is_dir() else [path]:
            digest.update(file.name.encode() + b"\0" + _substance(file))
    return digest.hexdigest()[:12]


def _substance(file: Path) -> bytes:
    """A file's bytes; of Python code what it does, without comments, layout and docstrings."""
    if file.suffix != ".py":
        return file.read_bytes()
    tree = ast.parse(file.read_bytes())
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            node.value.value = ""
    return ast.dump(tree).encode()
