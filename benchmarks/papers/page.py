"""Write docs/benchmarks.md and docs/results from the stored results.

    python -m benchmarks.papers.page [FOLDER ...] [--drop 'legal/cross epochs=3*'] [--to docs]

Runs from FOLDERs written by `longmatch evaluate` are first merged into benchmarks/results, where they replace older
runs of the same row; the pages are written from there alone. benchmarks/results/about.json has the commands, machines,
commits and weights behind the rows. Nothing on the pages is written by hand. Run it in the repository's root.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

from benchmarks.papers.overview import page_name, write_overview
from benchmarks.papers.set_page import write_set_page
from benchmarks.papers.stored_results import RESULTS, StoredResults


def main(arguments: Sequence[str] | None = None) -> None:
    """Merge new runs, and write the pages."""
    parser = argparse.ArgumentParser(description="Write docs/benchmarks.md and docs/results from the stored results.")
    parser.add_argument("folders", nargs="*", type=Path, help="folders written by longmatch evaluate, to be merged")
    parser.add_argument("--drop", nargs="+", default=[], help="SET/MODEL patterns of rows that were measured wrongly")
    parser.add_argument("--recompute", action="store_true", help="compute all rows, as after a change of the tests")
    parser.add_argument("--results", type=Path, default=RESULTS, help="the folder of stored results")
    parser.add_argument("--to", type=Path, default=Path("docs"), help="the folder of the pages")
    options = parser.parse_args(arguments)
    merges = bool(options.folders or options.drop or options.recompute)
    stored = StoredResults.load(options.results, with_answers=merges)
    if merges:
        stored.merge(*options.folders, drop=options.drop, recompute=options.recompute)
        stored.save(options.results)
    pages = write_pages(stored)
    (options.to / "results").mkdir(parents=True, exist_ok=True)
    for path in (options.to / "results").glob("*.md"):
        if f"results/{path.name}" not in pages:
            path.unlink()
    for name, text in pages.items():
        (options.to / name).write_text(text, encoding="utf-8")
    print(f"Written: {options.to / 'benchmarks.md'} and {len(pages) - 1} pages in {options.to / 'results'}")


def write_pages(stored: StoredResults) -> dict[str, str]:
    """All pages by their paths below docs."""
    sets = {f"results/{page_name(group)}": write_set_page(group) for group in stored.groups.values()}
    return {"benchmarks.md": write_overview(stored), **sets}


if __name__ == "__main__":
    main()
