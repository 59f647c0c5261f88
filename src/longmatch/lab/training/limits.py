"""What the numbers among settings may be; one that may not is named in a sentence."""

from longmatch.errors import LongmatchError


def at_least(settings: object, **least: float) -> None:
    """Refuse a setting below its least value. One that is left open, or that these settings do not know, may be so.

    >>> from types import SimpleNamespace
    >>> at_least(SimpleNamespace(heads=0, width=None), heads=1, width=1)
    Traceback (most recent call last):
    ...
    longmatch.errors.LongmatchError: The setting heads is 0; it must be 1 or more.
    """
    for key, bound in least.items():
        value = getattr(settings, key, None)
        if value is not None and not value >= bound:
            raise LongmatchError(f"The setting {key} is {value}; it must be {bound} or more.")


def above_zero(settings: object, *keys: str) -> None:
    """Refuse a setting that is zero, less, or no number."""
    for key in keys:
        if not getattr(settings, key) > 0:
            raise LongmatchError(f"The setting {key} is {getattr(settings, key)}; it must be above 0.")
