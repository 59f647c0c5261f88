"""The demo: rank the example collection for one of its documents, and show why the first answer is the first.

Run it with `make demo`.
"""

import os
from pathlib import Path

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

from rich.console import Console

import longmatch as lm
from longmatch.cli.progress import progress
from longmatch.render.terminal import print_ranking
from longmatch.render.terminal_match import print_match

FOLDER = Path(__file__).parent / "collection"
QUERY = "the-stream-that-turned.md"
PAGE = Path("out") / "why.html"


def main() -> None:
    """Rank, explain, and say where the page is."""
    console = Console()
    library = lm.Library(Path("out") / "examples")
    with progress("indexing"):
        library.add(FOLDER)
    console.rule(f"The documents that belong with “{library.show(QUERY).title}”")
    hits = library.rank(QUERY, k=5)
    print_ranking(hits, console)
    console.rule("Why the first one")
    match = library.compare(QUERY, hits[0].id)
    print_match(match, console, passages=3)
    PAGE.parent.mkdir(exist_ok=True)
    page = lm.save(match, PAGE).resolve()
    console.print(f"\nThe same as a page with both texts side by side: [bold]{page.as_uri()}[/bold]", soft_wrap=True)


if __name__ == "__main__":
    main()
