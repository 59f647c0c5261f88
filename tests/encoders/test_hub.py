"""A hub that cannot be reached: asked once, and one sentence."""

import os
import subprocess
import sys
from time import monotonic

import pytest

CLOSED_PORT = "http://127.0.0.1:9"


@pytest.mark.parametrize("model", ["sdr@someone/something", "someone/something", "sdr@something"])
def test_a_hub_id_is_one_sentence_where_the_hub_cannot_be_reached(tmp_path, model):
    for name in ("a.txt", "b.txt"):
        (tmp_path / name).write_text("The bank failed. Depositors queued.")
    command = [sys.executable, "-m", "longmatch", "compare", "a.txt", "b.txt", "--model", model]
    settings = {**os.environ, "HF_ENDPOINT": CLOSED_PORT, "HF_HOME": str(tmp_path / "cache")}
    begun = monotonic()
    done = subprocess.run(command, cwd=tmp_path, env=settings, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        f"longmatch: The model {model.removeprefix('sdr@')} is neither a folder nor in the cache, and the Hugging Face "
        "hub cannot be reached. Check the name, or connect to the network.\n"
    )
    assert monotonic() - begun < 20, "six attempts take 23 seconds"
