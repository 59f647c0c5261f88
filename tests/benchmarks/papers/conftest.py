"""The small data folders and models of the evaluation's tests, and the results in the repository."""

import pytest
from benchmarks.papers.stored_results import StoredResults

from tests.lab.evaluation.conftest import make_data, save_colde

__all__ = ["make_data", "save_colde"]


@pytest.fixture(scope="session")
def published() -> StoredResults:
    """The results that the repository holds, read once: rows, and runs without their answers."""
    return StoredResults.load(with_answers=False)
