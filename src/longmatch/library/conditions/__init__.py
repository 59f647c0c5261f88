"""Conditions on documents, as a user writes them: parsed into a tree of our own, from which SQL is made."""

from longmatch.library.conditions.parse import parse
from longmatch.library.conditions.tree import Condition, quoted

__all__ = ["Condition", "parse", "quoted"]
