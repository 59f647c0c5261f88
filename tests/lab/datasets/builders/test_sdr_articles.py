"""Pickles from strangers."""

import os
import pickle
from collections import Counter, OrderedDict, defaultdict

import pytest

from longmatch.errors import ReadError
from longmatch.lab.datasets.builders.sdr_articles import read_plain_pickle

PLAIN = {
    "Merlot": {"Malbec": 2, "Cabernet & Co": 1},
    "set": {1, 2},
    "frozen": frozenset("ab"),
    "ordered": OrderedDict(a=1),
    "counted": Counter("aab"),
    "default": defaultdict(int, a=1),
    "nested": [(1, 2.5, True, None)],
}


class Hostile:
    """Runs a command when a common unpickler opens it."""

    def __init__(self, command: str) -> None:
        self.command = command

    def __reduce__(self):
        return os.system, (self.command,)


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_plain_containers_are_read(tmp_path, protocol):
    path = tmp_path / "gt"
    path.write_bytes(pickle.dumps(PLAIN, protocol))
    assert read_plain_pickle(path) == PLAIN


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_a_hostile_pickle_is_refused_and_does_nothing(tmp_path, protocol):
    path, mark = tmp_path / "gt", tmp_path / "mark"
    path.write_bytes(pickle.dumps({"Merlot": Hostile(f"touch {mark}")}, protocol))
    with pytest.raises(ReadError, match=r"is a pickle that asks for (posix|nt)\.system"):
        read_plain_pickle(path)
    assert not mark.exists()


@pytest.mark.parametrize("call", [b"cbuiltins\neval\n", b"c__builtin__\neval\n", b"cbuiltins\ngetattr\n"])
def test_builtin_functions_are_refused(tmp_path, call):
    (tmp_path / "gt").write_bytes(call + b"(V1+1\ntR.")
    with pytest.raises(ReadError, match="asks for builtins"):
        read_plain_pickle(tmp_path / "gt")


@pytest.mark.parametrize("content", [b"", b"not a pickle", pickle.dumps([1] * 10)[:-5]])
def test_what_is_no_pickle_is_said_to_be_none(tmp_path, content):
    (tmp_path / "gt").write_bytes(content)
    with pytest.raises(ReadError, match="is not a readable pickle"):
        read_plain_pickle(tmp_path / "gt")


def test_a_large_pickle_is_not_opened(tmp_path):
    (tmp_path / "gt").write_bytes(bytes(2000))
    with pytest.raises(ReadError, match="larger than 1,000 bytes"):
        read_plain_pickle(tmp_path / "gt", max_size=1000)
