"""Short runs of what `make kills` and `make flips` do at length."""

import os
import re
import subprocess
import sys

import pytest

pytestmark = pytest.mark.slow


def run(module: str, *options: str) -> str:
    """In a process that patches what it needs for itself."""
    command = [sys.executable, "-m", f"tests.safety.{module}", *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    return done.stdout


def test_killed_at_random_moments_a_library_answers_as_a_fresh_one():
    run("kills", "--kills", "20", "--seed", str(os.getpid()))


def test_a_flipped_bit_gives_the_same_answers_or_a_sentence():
    *_, last = run("flips", "--flips", "1", "--seed", str(os.getpid())).splitlines()
    flips, files, same, sentences, problems = (int(number) for number in re.findall(r"\d+", last.replace(",", "")))
    assert flips == files and same + sentences == flips + files and problems == 0


def test_two_writers_at_once_both_succeed():
    run("writers")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may mount a small disk")
def test_a_full_disk_is_said_and_the_library_answers_as_before():
    without = "index --reencode"  # its full-text index needs room: docs/library-internals.md
    run("full_disk", "--times", "1", "--without", without)
