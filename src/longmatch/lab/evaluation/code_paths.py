"""The code that a matcher's results depend on, as files and folders of the package."""

from longmatch.models.registry import declaration_of


def code_of(matcher: object) -> tuple[str, ...]:
    """The folders of a matcher's class and its base classes, what its declaration names, and what all models share.

    >>> from longmatch.lab.baselines.cross.matcher import CrossMatcher
    >>> code_of(CrossMatcher.__new__(CrossMatcher))
    ('lab/baselines/cross', 'lab/matchers.py', 'matching')
    """
    modules = (kind.__module__.split(".") for kind in type(matcher).__mro__)
    folders = ("/".join(parts[1:-1]) for parts in modules if parts[0] == "longmatch")
    own = ("lab/matchers.py" if folder == "lab" else folder for folder in folders if folder)
    declared = declaration_of(matcher)
    return tuple(dict.fromkeys((*own, *(declared.code if declared else ()), "matching")))
