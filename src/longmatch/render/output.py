"""Results for people and for programs, as Python users ask for them: printed, or saved to a file."""

import json
from pathlib import Path

from rich.console import Console

from longmatch.errors import LongmatchError
from longmatch.matching.hits import Hits, SectionHits
from longmatch.matching.match import Match
from longmatch.render.export import write_table
from longmatch.render.html import render_html, render_redline, write_page
from longmatch.render.json import to_dict
from longmatch.render.terminal import print_ranking, print_sections
from longmatch.render.terminal_match import print_match

Result = Match | Hits | SectionHits


def save(result: Result, path: str | Path, *, redline: bool = False) -> Path:
    """Write a result to a file, and give back where it is; the name's ending says how.

    - `.html`: a match as a page that shows both texts and what links them, and works offline; with `redline` the second
      document with its insertions, deletions and moves against the first
    - `.csv`: hits, a line for each; no cell can be run as a formula
    - `.json`: any result, as the command line's `--json` has it
    """
    path = Path(path)
    ending = path.suffix.lower()
    if ending in (".html", ".htm") and isinstance(result, Match):
        return write_page(render_redline(result) if redline else render_html(result), path)
    if ending == ".json":
        return write_page(json.dumps(to_dict(result), ensure_ascii=False, indent=2) + "\n", path)
    if ending == ".csv" and not isinstance(result, Match):
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("w", encoding="utf-8", errors="replace", newline="") as file:
            write_table(result, file)
        return path
    endings = ".html or .json" if isinstance(result, Match) else ".csv or .json"
    raise LongmatchError(f"{path} does not say how to write it. Name a file that ends in {endings}.")


def show(result: Result, console: Console | None = None) -> None:
    """Print a result as the commands `compare` and `rank` do."""
    console = console or Console()
    if isinstance(result, Match):
        print_match(result, console)
    elif isinstance(result, Hits):
        print_ranking(result, console)
    else:
        print_sections(result, console)
