import numpy as np
import pytest


@pytest.fixture(scope="package")
def collection(encodings, answer_key):
    """The vectors of the example collection, and the group of each."""
    groups = [answer_key[name]["group"] for name in encodings]
    return np.stack([encoding.mean for encoding in encodings.values()]), np.unique(groups, return_inverse=True)[1]
