"""Two commands that change a library at once: `python -m tests.safety.writers`.

Both must succeed, and the library must give the answers of one made of the documents that it holds then.
"""

import sys
import tempfile
from itertools import combinations_with_replacement
from pathlib import Path

from tests.safety.children import Child, command
from tests.safety.kills import Disturber


class Writers(Disturber):
    """Runs commands in pairs."""

    def run(self) -> None:
        """Each of three commands with each, on copies of one library."""
        changed, shrunk = self.scenarios[1], self.scenarios[3]
        works = {
            "index": changed.words,
            "index --prune": lambda library: (*changed.words(library), "--prune"),
            "remove": shrunk.words,
        }
        for first, second in combinations_with_replacement(works, 2):
            if first == second == "remove":
                continue  # what one has removed the other cannot
            library = self._copy(changed)
            children = [Child(command(*works[name](library))) for name in (first, second)]
            what = f"{first} beside {second}"
            for ended in [child.end() for child in children]:
                if ended.status:
                    self._problem(f"{what}: {ended.errors[-600:]}", library)
            self.found.times[what] += 1
            self._judge(changed, library, what)


def main() -> None:
    """Run the pairs, and say what became of it."""
    with tempfile.TemporaryDirectory(prefix="longmatch-writers-") as folder:
        writers = Writers(Path(folder), 0)
        writers.run()
        print(f"{writers.found.times.total()} pairs of writers: {len(writers.found.problems)} problems")
    sys.exit(bool(writers.found.problems))


if __name__ == "__main__":
    main()
