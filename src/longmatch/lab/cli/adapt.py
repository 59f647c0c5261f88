"""`longmatch adapt`: let the model learn from a library's own documents, if that proves better."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeRemainingColumn
from rich.table import Table

from longmatch.cli.options import AsJson
from longmatch.cli.progress import warn

if TYPE_CHECKING:
    from longmatch.lab.adapting.adapt import Adaptation, OnStage


def adapt(
    library: Annotated[str, typer.Argument(help="The library: a folder, or an address of object storage.")],
    minutes: Annotated[
        float, typer.Option("--minutes", min=0.1, help="About how long learning and proving may take.")
    ] = 10.0,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Learn and prove, but change nothing.")] = False,
    undo: Annotated[bool, typer.Option("--undo", help="Go back to the model before the last adaptation.")] = False,
    seed: Annotated[int, typer.Option("--seed", help="Which documents are held back, and what is drawn.")] = 0,
    steps: Annotated[
        int | None, typer.Option("--steps", min=1, help="Learn exactly so many steps, whatever the time.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Let the model learn from a library's own documents. They need no labels.

    A tenth of the documents is held back. Passages of one half of each are looked for with passages of its other half,
    with the model as it was and with what it has learnt. That is adopted only where the score finds them better (mean
    reciprocal rank, p < 0.05); or, where the score had 0.98 before and falls by no more than 0.002, the meaning of
    sentences alone does. Else the library stays as it was. Adopting encodes all documents again.
    """
    from longmatch.lab.adapting import adopting
    from longmatch.library.library import Library
    from longmatch.library.store import locate_library

    opened = Library(locate_library(library), create=False, on_message=warn)
    with stages() as report:
        if undo:
            adopting.undo(opened, report)
        else:
            found = adopting.adapt(opened, minutes, seed=seed, steps=steps, dry_run=dry_run, progress=report)
    if undo:
        typer.echo(f"{library}: {len(opened):,} documents encoded again with the model as it was before.")
    elif as_json:
        typer.echo(json.dumps(found.to_dict(), indent=2))
    else:
        print_adaptation(found, library, dry_run)


def print_adaptation(found: "Adaptation", library: str, dry_run: bool) -> None:
    """The proof as a table, and what came of it in a sentence."""
    proof = found.proof
    table = Table("mean reciprocal rank", "before", "after", "difference", "p")
    for name, measured in (("score", proof.score), ("meaning alone", proof.meaning)):
        values = f"{measured.before:.3f}", f"{measured.after:.3f}", f"{measured.difference:+.3f}", f"{measured.p:.4f}"
        table.add_row(name, *values)
    Console().print(table)
    typer.echo(
        f"Learnt from {found.documents:,} documents in {found.steps} steps; proven on {proof.passages:,} passages of "
        f"{proof.documents:,} others, each looked for among {proof.among:,}."
    )
    if found.adopted:
        ending = f"{library} uses what was learnt from now on; longmatch adapt {library} --undo goes back."
    elif proof.holds and dry_run:
        ending = f"Without --dry-run it would be adopted; {library} is as it was."
    else:
        ending = f"Nothing is adopted; {library} is as it was."
    typer.echo(f"{proof.verdict} {ending}")


@contextmanager
def stages() -> Iterator["OnStage"]:
    """A bar for each thing that is done, gone when all is."""
    columns = [SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn()]
    console = Console(stderr=True)
    with Progress(
        *columns, TimeRemainingColumn(), console=console, transient=True, disable=not console.is_terminal
    ) as bar:
        task = bar.add_task("loading", total=None)

        def report(what: str, done: int, of_all: int) -> None:
            if bar.tasks[0].description != what:
                bar.reset(task, description=what, total=of_all)
            bar.update(task, completed=done, total=of_all)

        yield report
