"""The code that results depend on, as files and folders of the package."""

MATCHING = ("matching",)  # shared by all models
LEXICAL_CODE = ("lexical", *MATCHING)
SENTENCE_CODE = ("models/sdr", "lab/baselines/pooled", *MATCHING)
DEFAULT_CODE = (
    *("default", "lexical", *MATCHING),
    *("default/data/calibration.json", "lexical/data/frequencies.safetensors"),
)


def class_folder(thing: object) -> tuple[str, ...]:
    """The folder of an object's class, and the code shared by all models.

    >>> from longmatch.lab.baselines.pooled.matcher import PooledMatcher
    >>> class_folder(PooledMatcher.__new__(PooledMatcher))[0]
    'lab/baselines/pooled'
    """
    package, *folders = type(thing).__module__.split(".")[:-1] or [""]
    return ("/".join(folders), *MATCHING) if package == "longmatch" and folders else MATCHING


def class_folders(thing: object) -> tuple[str, ...]:
    """The folders of an object's class and its base classes, and the code shared by all models.

    >>> from longmatch.lab.baselines.cross.matcher import CrossMatcher
    >>> class_folders(CrossMatcher.__new__(CrossMatcher))[0]
    'lab/baselines/cross'
    """
    modules = (kind.__module__.split(".") for kind in type(thing).__mro__)
    folders = (
        "/".join(parts[1:-1]) for parts in modules if parts[0] == "longmatch" and parts[1:-1] not in ([], ["lab"])
    )
    return tuple(dict.fromkeys((*folders, *MATCHING)))
