"""What a user can see of a library, and workers that leave their number behind so that they can be killed."""

import os
from pathlib import Path
from typing import Any

import numpy as np

from longmatch.default.matcher import HybridMatcher
from longmatch.library.library import Library
from longmatch.library.rows import INDEX_COLUMNS
from tests.library.tiny import tiny_matcher


def make_and_note(model: Path, notes: Path) -> HybridMatcher:
    """A matcher; the process that makes it is noted."""
    (notes / str(os.getpid())).touch()
    return tiny_matcher(model)


def assert_equal(ours: Library, theirs: Library) -> None:
    """The same documents with the same texts, vectors and files, and the same answers."""
    assert sorted_documents(ours) == sorted_documents(theirs)
    assert noted(ours) == noted(theirs)
    a, b = (library.store.fetch(list(theirs), [*INDEX_COLUMNS, "vectors", "source"]) for library in (ours, theirs))
    for mine, yours in zip(a, b, strict=True):
        assert [mine.value(name) for name in ("id", "hash", "source")] == [
            yours.value(name) for name in ("id", "hash", "source")
        ]
        np.testing.assert_allclose(mine.array("vectors"), yours.array("vectors"), atol=2e-3)
        np.testing.assert_array_equal(mine.terms().words.ids, yours.terms().words.ids)
    for id in list(theirs)[::28]:
        mine, yours = ([(hit.id, hit.score) for hit in library.rank(id)] for library in (ours, theirs))
        assert [id for id, _ in mine] == [id for id, _ in yours]
        np.testing.assert_allclose([score for _, score in mine], [score for _, score in yours], atol=1e-5)


def sorted_documents(library: Library) -> list[Any]:
    return sorted(library.documents, key=lambda document: document.id)


def noted(library: Library) -> dict[str, Any]:
    """The files a library knows, without times: one just written is looked at again."""
    return {path: (row["hash"], row["problems"]) for path, row in library.store.files().items()}
