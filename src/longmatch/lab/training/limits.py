"""Bounds on numeric settings; a value out of bounds is an error that names the setting."""

from longmatch.errors import LongmatchError


def at_least(settings: object, **minimums: float) -> None:
    """Refuse settings below their minimum; those that are None or that the object does not have pass.

    >>> from types import SimpleNamespace
    >>> at_least(SimpleNamespace(heads=0, width=None), heads=1, width=1)
    Traceback (most recent call last):
    ...
    longmatch.errors.LongmatchError: The setting heads is 0; it must be 1 or more.
    """
    for key, minimum in minimums.items():
        value = getattr(settings, key, None)
        if value is not None and not value >= minimum:
            raise LongmatchError(f"The setting {key} is {value}; it must be {minimum} or more.")


def above_zero(settings: object, *keys: str) -> None:
    """Refuse settings that are zero, negative or NaN."""
    for key in keys:
        if not getattr(settings, key) > 0:
            raise LongmatchError(f"The setting {key} is {getattr(settings, key)}; it must be above 0.")


def below_one(settings: object, *keys: str) -> None:
    """Refuse rates, such as dropout, that are negative, 1 or more; None passes."""
    for key in keys:
        value = getattr(settings, key)
        if value is not None and not 0 <= value < 1:
            raise LongmatchError(f"The setting {key} is {value}; it must be 0 or more and below 1.")


def positive_share(settings: object, *keys: str) -> None:
    """Refuse shares that are 0, negative or above 1."""
    for key in keys:
        if not 0 < getattr(settings, key) <= 1:
            value = getattr(settings, key)
            raise LongmatchError(f"The setting {key} is {value}; it must be above 0 and 1 at most.")
