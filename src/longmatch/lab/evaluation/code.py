"""The code that results depend on: files and folders of the package."""

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
