"""Bad input: one sentence that names the file, exit code 2, no traceback; in a folder the rest is still ranked."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.bad_files import PROBLEMS, write_bad_files

every_model = pytest.mark.parametrize("model", ["default", "tfidf"])


@pytest.fixture
def bad(tmp_path):
    place = tmp_path / "bad"
    place.mkdir()
    write_bad_files(place)
    return place


@pytest.mark.parametrize("name", PROBLEMS)
def test_every_verb_names_an_unreadable_file_and_what_is_wrong(longmatch, folder, bad, name):
    for arguments in (
        ("read", bad / name),
        ("read", bad / name, "--json"),
        ("compare", folder / "bank.md", bad / name, "--json"),
        ("compare", bad / name),
        ("rank", bad / name, folder, "-m", "tfidf"),
    ):
        complaint = longmatch(*arguments).complaint
        assert complaint.startswith(str(bad / name)) and PROBLEMS[name] in complaint
        assert complaint.count(". ") >= 1, "says what to do"


@pytest.mark.parametrize(
    "verb", [("read", "{0}"), ("compare", "{0}", "{1}"), ("compare", "{1}", "{0}"), ("rank", "{0}", "{2}")]
)
def test_a_missing_file_is_named(longmatch, folder, tmp_path, verb):
    missing = tmp_path / "missing.txt"
    arguments = (word.format(missing, folder / "bank.md", folder) for word in verb)
    assert longmatch(*arguments).complaint.startswith(f"{missing} ")


@every_model
def test_the_good_files_of_a_folder_are_ranked_and_the_bad_ones_named(longmatch, folder, model):
    write_bad_files(folder)
    (folder / "latin.txt").write_bytes("Le café de la banque était fermé. Les clients étaient déçus.".encode("latin-1"))
    (folder / "line.txt").write_text("x" * 200_000)
    ran = longmatch("rank", folder / "bank.md", folder, "-k", 20, "--json", "-m", model)
    good = {"queue.txt", "ledger.html", "snow.txt", "pears.txt", "latin.txt", "line.txt"}
    assert {hit["id"] for hit in ran.json["hits"]} == good
    lines = [line for line in ran.err.splitlines() if "trained on English" not in line]  # the café is French
    assert len(lines) == len(PROBLEMS) and "Traceback" not in ran.err
    for name, problem in PROBLEMS.items():
        assert any(name in line and problem in line for line in lines)
    assert {name for name in PROBLEMS if any(name in row["file"] for row in ran.json["unreadable"])} == set(PROBLEMS)


@every_model
def test_a_folder_with_nothing_readable_is_named(longmatch, folder, tmp_path, model):
    empty = tmp_path / "empty"
    empty.mkdir()
    assert str(empty) in longmatch("rank", folder / "bank.md", empty, "-m", model).complaint
    (empty / "photo.jpg").write_bytes(b"\xff\xd8\xff")
    assert str(empty) in longmatch("rank", folder / "bank.md", empty, "-m", model).complaint


@every_model
def test_a_missing_folder_is_said_to_be_missing(longmatch, folder, tmp_path, model):
    complaint = longmatch("rank", folder / "bank.md", tmp_path / "nowhere", "-m", model).complaint
    assert complaint.startswith(str(tmp_path / "nowhere")) and "does not exist" in complaint


def test_a_folder_of_unreadable_files_alone_names_each_of_them(longmatch, folder, bad):
    ran = longmatch("rank", folder / "bank.md", bad)
    assert (ran.code, ran.out) == (2, "")
    assert all(name in ran.err for name in PROBLEMS) and "Traceback" not in ran.err


def test_a_folder_in_place_of_a_file_is_said_to_be_one(longmatch, folder):
    assert longmatch("read", folder).complaint == f"{folder} is a folder, not a file. Name one of the files in it."


def test_a_process_of_its_own_ends_with_code_2_and_one_line(tmp_path):
    (tmp_path / "empty.txt").touch()
    command = [Path(sys.executable).parent / "longmatch", "read", tmp_path / "empty.txt"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"longmatch: {tmp_path / 'empty.txt'} is empty. Leave it out, or put text in it.\n"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has a file that is always full")
def test_a_full_disk_is_one_sentence(folder):
    command = [sys.executable, "-m", "longmatch", "read", str(folder / "bank.md"), "--json"]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 2 and done.stderr.splitlines() == [
        "longmatch: The disk is full. Make room and run the same command again to resume."
    ]
