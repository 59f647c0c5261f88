"""Data folders as the evaluation's tests have them."""

from tests.lab.evaluation.conftest import example_corpus, make_data

__all__ = ["example_corpus", "make_data"]
