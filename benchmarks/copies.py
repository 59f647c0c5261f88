"""How the time of a question grows with the library, by an index that holds every document several times.

    python -m benchmarks.copies LIBRARY [--times 10] [--queries 20]

Encoding and storing a hundred thousand documents takes hours; their index can be had in a minute: every document of a
library's index is repeated under ids of its own, with its postings, and term frequencies are multiplied. Records are
linked, so more of them are in the system's cache than would be, and no new terms come in. The best hits are copies of
the query, which are longer than usual hits. Questions are asked of the
library and of the copies, each in a process of its own; seconds are processor time on one thread.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import median

os.environ["OPENBLAS_NUM_THREADS"] = "1"

import numpy as np

from longmatch.default.encoding import Encoding
from longmatch.lexical.terms import KINDS
from longmatch.library.checksums import from_checked_json, to_checked_json
from longmatch.library.index.index import MANIFEST
from longmatch.library.index.records import record_files
from longmatch.library.index.segment import DTYPES, HELD, PER_DOCUMENT, Array, Segment, seal
from longmatch.library.library import Library


def copy_index(source: Path, target: Path, times: int) -> None:
    """A library whose index has every document `times`; its store is that of the source."""
    index = Library(source, create=False)._searcher().index
    if len(index.segments) > 1 or any(index.deleted):
        sys.exit(f"The index of {source} has several segments. Make one of them: longmatch index {source} --reencode.")
    for path in source.glob("*.lance"):
        (target / path.name).symlink_to(path.resolve())
    folder = target / "index" / "copies"
    folder.mkdir(parents=True)
    copy_segment(index.segments[0], folder, times)
    manifest = from_checked_json((source / "index" / MANIFEST).read_text(encoding="utf-8"))
    changed = manifest | {"segments": [folder.name], "dead": [[]]}
    (target / "index" / MANIFEST).write_text(to_checked_json(changed), encoding="utf-8")


def copy_segment(segment: Segment, folder: Path, times: int) -> None:
    """A segment with every document of another `times`."""
    columns = {name: [segment[name]] * times for name in (*PER_DOCUMENT, "records")}
    for name in HELD:
        offsets = segment[f"{name}.offsets"]
        columns |= {f"{name}.{part}": [segment[f"{name}.{part}"]] * times for part in ("held", "counts")}
        columns[f"{name}.offsets"] = [offsets[:1], *(offsets[1:] + copy * offsets[-1] for copy in range(times))]
    for kind in KINDS:
        columns |= {f"{kind}.{part}": [segment[f"{kind}.{part}"]] for part in ("terms", "background", "kept")}
        columns[f"{kind}.frequencies"] = [times * segment[f"{kind}.frequencies"]]
        starts, documents, weights = (segment[f"{kind}.{part}"] for part in ("starts", "documents", "weights"))
        columns[f"{kind}.starts"] = [times * starts]
        columns[f"{kind}.documents"] = [_repeated(starts, [documents + copy * len(segment) for copy in range(times)])]
        columns[f"{kind}.weights"] = [_repeated(starts, [weights] * times)]
    for name, parts in columns.items():
        with (folder / name).open("wb") as file:
            for part in parts:
                np.ascontiguousarray(part, dtype=DTYPES[name] or None).tofile(file)
    for name in record_files(segment.folder):
        os.link(segment.folder / name, folder / name)
    ids = [f"{id}^{copy}" if copy else id for copy in range(times) for id in segment.ids]
    seal(folder, ids, [*segment.hashes] * times)


def _repeated(starts: Array, copies: Sequence[Array]) -> Array:
    """The postings of each term, once for each copy."""
    lengths = np.diff(starts).astype(np.int64)
    first = np.repeat(starts[:-1].astype(np.int64), lengths)
    place = first * len(copies) + np.arange(len(first)) - first
    found = np.empty(len(copies) * len(first), dtype=copies[0].dtype)
    for number, values in enumerate(copies):
        found[place + number * np.repeat(lengths, lengths)] = values
    return found


def renamed(encode: Callable[[Segment, int], Encoding | None]) -> Callable[[Segment, int], Encoding | None]:
    """The encoding of a copy under the copy's id: its linked record has that of the original."""

    def encoding(segment: Segment, number: int) -> Encoding | None:
        found = encode(segment, number)
        if found is None:
            return None
        document = replace(found.document, id=segment.ids[number])
        return replace(found, sentences=replace(found.sentences, document=document))

    return encoding


def ask(place: Path, count: int) -> None:
    """Print the documents and the median processor seconds of a question, the ten best with passages."""
    Segment.encoding = renamed(Segment.encoding)  # type: ignore[method-assign, assignment]
    library = Library(place, create=False)
    library.preload()
    ids = sorted(id for id in library._searcher().scope().ids if "^" not in id and "~" not in id)
    chosen = ids[:: max(1, len(ids) // count)][:count]
    library.rank(chosen[0])
    seconds = []
    for id in chosen:
        start = time.process_time()
        hits = library.rank(id, k=10)
        seconds.append(time.process_time() - start)
        assert len(hits) == 10 and all(hit.why for hit in hits)
    print(json.dumps([len(library._searcher().index), median(seconds)]))


def main() -> None:
    if sys.argv[1:2] == ["--ask"]:
        ask(Path(sys.argv[2]), int(sys.argv[3]))
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library", type=Path)
    parser.add_argument("--times", type=int, default=10)
    parser.add_argument("--queries", type=int, default=20)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="copies-", dir=options.library.parent) as place:
        copy_index(options.library, Path(place), options.times)
        for library in (options.library, Path(place)):
            command = [sys.executable, __file__, "--ask", str(library), str(options.queries)]
            said = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()[-1]
            documents, seconds = json.loads(said)
            print(f"{documents:,} documents: {1e3 * seconds:.0f} ms of processor time a question")


if __name__ == "__main__":
    main()
