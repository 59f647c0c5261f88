import numpy as np
import pytest

from longmatch.default.space import Space
from longmatch.default.statistics import shipped_statistics


@pytest.fixture(scope="package")
def collection(encodings, answer_key):
    """The vectors of the example collection, and the group of each."""
    groups = [answer_key[name]["group"] for name in encodings]
    vectors = np.stack([encoding.vector for encoding in encodings.values()])
    placed = Space.of(vectors, shipped_statistics().space).place(vectors)
    return placed, np.unique(groups, return_inverse=True)[1]
