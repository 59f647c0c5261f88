"""Names opened when they are used: what is missing is named, and stays the error it is."""

import pytest

from longmatch.addresses import raise_missing, resolve
from longmatch.errors import LongmatchError


def test_a_library_of_the_laboratory_that_is_missing_is_one_sentence():
    with pytest.raises(LongmatchError, match="pip install 'longmatch\\[lab\\]'"):
        raise_missing(ModuleNotFoundError("No module named 'torch.nn'", name="torch.nn"))


def test_any_other_missing_module_is_no_cause_of_itself():
    with pytest.raises(ModuleNotFoundError) as raised:
        resolve("no_such_package.module:name")
    assert raised.value.__cause__ is None and raised.value.__context__ is not raised.value
