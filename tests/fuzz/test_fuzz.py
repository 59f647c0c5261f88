"""Damaged files of every format are read or refused in one sentence."""

from pathlib import Path

import pytest

from longmatch.documents.formats import suffixes
from tests.effort import tried
from tests.fuzz.originals import originals
from tests.fuzz.outcome import outcome_of
from tests.fuzz.run import make

FINDS = sorted((Path(__file__).parent / "finds").glob("*.*"))


def test_there_is_an_original_of_every_format():
    files = originals()
    assert set(files) == set(suffixes()) - {".jsonl.gz", ".jsonl.xz"} and all(files.values())
    assert {outcome_of(contents[0], suffix) for suffix, contents in files.items()} == {"read"}


@pytest.mark.fuzz
@pytest.mark.parametrize("suffix", list(originals()))
def test_a_damaged_file_is_read_or_refused(suffix):
    files = originals()
    outcomes = [outcome_of(make(number, [suffix], files)[1], suffix) for number in range(tried(6))]
    assert set(outcomes) <= {"read", "refused"}, outcomes


@pytest.mark.parametrize("path", FINDS, ids=lambda path: path.name)
def test_what_once_went_wrong_is_read_or_refused(path):
    assert outcome_of(path.read_bytes(), path.suffix) in {"read", "refused"}
