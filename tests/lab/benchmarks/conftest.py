"""The small data folders and models of the evaluation's tests."""

from tests.lab.evaluation.conftest import make_data, save_colde

__all__ = ["make_data", "save_colde"]
