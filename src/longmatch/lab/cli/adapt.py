"""`longmatch adapt` (experimental): the model learns from a library's own documents, and is kept on proof."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeRemainingColumn
from rich.table import Table

from longmatch.cli.options import AsJson
from longmatch.cli.printing import Terminal, echo, warn

if TYPE_CHECKING:
    from longmatch.lab.adapting.adapt import Adaptation, OnStage


def adapt(
    library: Annotated[str, typer.Argument(help="The library: a folder, or an address of object storage.")],
    minutes: Annotated[
        float, typer.Option("--minutes", min=0.1, help="Roughly how long learning and proving may take.")
    ] = 10.0,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Learn and prove, but change nothing.")] = False,
    undo: Annotated[bool, typer.Option("--undo", help="Go back to the model before the last adaptation.")] = False,
    seed: Annotated[int, typer.Option("--seed", help="Seed of which documents are held out and what is drawn.")] = 0,
    steps: Annotated[
        int | None, typer.Option("--steps", min=1, help="Number of training steps, whatever the time.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Experimental: let the model learn from a library's own documents, without labels.

    No gain on labelled queries has been shown yet (docs/adapting.md). A tenth of the documents is held out. Passages
    of one half of each are searched with passages of its other half, with the model as it was and as it has learnt. The
    result is adopted only if the score finds them better (mean reciprocal rank, p < 0.05); or, if the score was 0.98
    or more before and falls by no more than 0.002, if the meaning of sentences alone does. Otherwise the library stays
    as it was. Adopting encodes all documents again.
    """
    from longmatch.lab.adapting import adapt as adapting
    from longmatch.library.library import Library
    from longmatch.library.store import locate_library

    opened = Library(locate_library(library), create=False, on_message=warn)
    with stages() as report:
        if undo:
            adapting.undo(opened, report)
        else:
            result = adapting.adapt(opened, minutes, seed=seed, steps=steps, dry_run=dry_run, progress=report)
    if undo:
        echo(f"{library}: {len(opened):,} documents encoded again with the model as it was before.")
    elif as_json:
        echo(json.dumps(result.to_dict(), indent=2))
    else:
        print_adaptation(result, library, dry_run)


def print_adaptation(result: "Adaptation", library: str, dry_run: bool) -> None:
    """Print the proof as a table, and the outcome in a sentence."""
    proof = result.proof
    table = Table("mean reciprocal rank", "before", "after", "difference", "p")
    for name, gain in (("score", proof.score), ("meaning alone", proof.meaning)):
        values = f"{gain.before:.3f}", f"{gain.after:.3f}", f"{gain.difference:+.3f}", f"{gain.p:.4f}"
        table.add_row(name, *values)
    Terminal().print(table)
    echo(
        f"Learnt from {result.documents:,} documents in {result.steps} steps; proven on {proof.passages:,} passages of "
        f"{proof.documents:,} others, each searched among {proof.among:,}."
    )
    if result.adopted:
        ending = f"{library} uses the adapted model from now on; longmatch adapt {library} --undo goes back."
    elif proof.holds and dry_run:
        ending = f"Without --dry-run it would be adopted; {library} is as it was."
    else:
        ending = f"Nothing is adopted; {library} is as it was."
    echo(f"{proof.verdict} {ending}")


@contextmanager
def stages() -> Iterator["OnStage"]:
    """A progress bar for each stage, on standard error; removed at the end."""
    columns = [SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn()]
    console = Terminal(stderr=True)
    with Progress(
        *columns, TimeRemainingColumn(), console=console, transient=True, disable=not console.is_terminal
    ) as bar:
        task = bar.add_task("loading", total=None)

        def report(stage: str, done: int, total: int) -> None:
            if bar.tasks[0].description != stage:
                bar.reset(task, description=stage, total=total)
            bar.update(task, completed=done, total=total)

        yield report
