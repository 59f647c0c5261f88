"""The command as the user runs it."""

from tests.cli.conftest import folder, longmatch

__all__ = ["folder", "longmatch"]
