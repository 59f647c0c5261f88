"""Print a paper's tables from the stored results, with the significance of the difference from its own method.

    python -m benchmarks.papers.paper_tables colde [--sets acl papers wiki]
    python -m benchmarks.papers.paper_tables sdr
    python -m benchmarks.papers.paper_tables smith
    python -m benchmarks.papers.paper_tables near --sets acl-near papers-near [--first default]

Run it in the repository's root.
"""

import argparse
from collections.abc import Sequence

from benchmarks.papers.stored_results import StoredResults
from longmatch.lab.evaluation.paper_tables import TABLES


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("paper", choices=TABLES)
    parser.add_argument("--sets", nargs="+", default=["acl", "papers", "wiki"])
    parser.add_argument("--first", default="", help="the label of another row to compare with")
    options = parser.parse_args(arguments)
    stored = StoredResults.load()
    groups = {group.data: group for group in stored.groups.values() if group.split == "test"}
    for table in (table.starting_with(options.first) for table in TABLES[options.paper]):
        for name in options.sets:
            if name in groups:
                print("\n".join(table.lines(name, groups[name].runs)))


if __name__ == "__main__":
    main()
