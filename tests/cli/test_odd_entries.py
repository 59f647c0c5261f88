"""Every command that reads names a pipe, a device or a link to itself, and goes on."""

import pytest

from tests.documents.odd_entries import PROBLEMS, within, write_odd_entries


@pytest.fixture
def odd(folder):
    write_odd_entries(folder)
    return folder


def test_index_names_odd_entries_and_indexes_the_rest(longmatch, odd, tmp_path):
    with within(120):
        ran = longmatch("index", tmp_path / "library", odd, "--json")
    assert len(ran.json["added"]) == 5 and "Traceback" not in ran.err
    problems = {entry["file"].rpartition("/")[2]: entry["problem"] for entry in ran.json["unreadable"]}
    assert set(problems) == set(PROBLEMS)
    assert all(said in problems[name] for name, said in PROBLEMS.items())


def test_rank_names_odd_entries_and_ranks_the_rest(longmatch, odd):
    with within(120):
        ran = longmatch("rank", odd / "bank.md", odd, "--model", "tfidf", "--json")
    assert len(ran.json["hits"]) == 4 and len(ran.json["unreadable"]) == len(PROBLEMS)


@pytest.mark.parametrize("name", ["pipe.txt", "zero.txt", "loop.txt"])
def test_an_odd_entry_by_name_is_one_sentence(longmatch, odd, tmp_path, name):
    with within(120):
        for arguments in (
            ("read", odd / name),
            ("compare", odd / name, odd / "bank.md"),
            ("index", tmp_path / "library", odd / name),
            ("rank", odd / name, odd, "--model", "tfidf"),
        ):
            ran = longmatch(*arguments)
            assert ran.code == 2 and "Traceback" not in ran.err and str(odd / name) in ran.err, arguments
