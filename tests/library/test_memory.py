"""Memory that was freed is kept in few pools, however many threads there are."""

import subprocess
import sys
from pathlib import Path

from longmatch.encoders.hardware import usable_cores

CODE = """
import sys
from threading import Barrier, Thread
from longmatch.library.library import Library
if sys.argv[1]:
    Library(sys.argv[1])
everybody = Barrier(24)
def work():
    held = [bytes(5_000) for _ in range(20)]
    everybody.wait()
threads = [Thread(target=work) for _ in range(24)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
starts = (int(line.split("-")[0], 16) for line in open("/proc/self/maps") if len(line.split()) == 5)
print(sum(start % 2**26 == 0 for start in starts))  # glibc's pools begin at multiples of 64 MB
"""


def pools(library: str) -> int:
    said = subprocess.run([sys.executable, "-c", CODE, library], check=True, capture_output=True, text=True).stdout
    return int(said)


def test_threads_share_as_many_pools_as_there_are_cores_once_a_library_is_opened(tmp_path: Path) -> None:
    alone, opened = pools(""), pools(str(tmp_path / "library"))
    assert opened <= usable_cores() + 1  # a mapping of another kind may begin there by chance
    assert alone > opened
