"""`longmatch data`: the catalogue of data sets, and building one from its upstream files."""

import json
from inspect import signature
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table

from longmatch.cli.output import Terminal, echo
from longmatch.errors import LongmatchError

data_app = typer.Typer(help="Data sets: what can be built, and building it.", no_args_is_help=True)

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]


@data_app.command("list")
def list_sets(as_json: AsJson = False) -> None:
    """List the data sets that can be built."""
    from longmatch.lab.datasets.catalogue import ENTRIES

    if as_json:
        echo(json.dumps([entry.facts() for entry in ENTRIES], ensure_ascii=False, indent=2))
        return
    table = Table("name", "what", "stands for", "size", "licence")
    for entry in ENTRIES:
        gated = " (gated)" if entry.steps else ""
        table.add_row(entry.name, entry.what, entry.paper, entry.size, entry.licence + gated)
    Terminal().print(table)


@data_app.command("show")
def show_set(
    name: Annotated[str, typer.Argument(help="A name from `longmatch data list`, or a data folder.")],
    as_json: AsJson = False,
) -> None:
    """Show where a data set comes from, which files it needs and how it is built; or what a built folder holds."""
    from longmatch.lab.datasets.catalogue import find
    from longmatch.lab.datasets.collection import DOCUMENT_FILES

    is_folder = any((Path(name) / file).is_file() for file in DOCUMENT_FILES)
    facts = _folder_facts(Path(name)) if is_folder else dict(find(name).facts())
    if as_json:
        echo(json.dumps(facts, ensure_ascii=False, indent=2))
        return
    layout = facts.pop("layout", "")
    table = Table(show_header=False, box=None)
    for key, value in facts.items():
        if value not in ("", [], None):
            table.add_row(f"[bold]{key}", escape(", ".join(value) if isinstance(value, list) else str(value)))
    console = Terminal()
    console.print(table)
    if layout:
        console.print()
        console.print(layout, markup=False, highlight=False)


@data_app.command("build")
def build_set(
    name: Annotated[str, typer.Argument(help="A name from `longmatch data list`.")],
    raw: Annotated[Path, typer.Argument(help="The folder or archive with the upstream files.")],
    out: Annotated[Path, typer.Argument(help="The new folder.")],
    without: Annotated[
        Path | None, typer.Option(help="Leave out articles whose title this data folder has (pretrain).")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Build a data set from its upstream files."""
    from longmatch.lab.datasets.catalogue import find
    from longmatch.lab.datasets.records import on_progress

    entry = find(name)
    options: dict[str, Any] = {"without": without} if without is not None else {}
    if not options.keys() <= signature(entry.builder).parameters.keys():
        raise LongmatchError(f"{entry.name} has no option --without. Only pretrain has.")
    console = Terminal(stderr=True)
    with console.status(f"Reading {raw}") as status, on_progress(lambda what, n: status.update(f"{n:,} {what}")):
        summary = entry.build(raw, out, **options)
    counts = {
        "documents": summary.documents,
        "pairs": summary.pairs,
        "judgements": summary.judgements,
        "queries": summary.queries,
        "upstream files left out": summary.unreadable,
        "labels left out": summary.dropped,
    }
    if as_json:
        echo(json.dumps({"name": entry.name, "path": str(summary.path), **counts}))
        return
    table = Table(title=f"{entry.name} in {summary.path}", show_header=False)
    for key, count in counts.items():
        table.add_row(key, f"{count:,}")
    Terminal().print(table)


def _folder_facts(path: Path) -> dict[str, Any]:
    from longmatch.lab.datasets.collection import DataFolder

    folder = DataFolder(path)
    folder.validate()
    return {
        "path": str(path),
        "documents": len(folder.ids),
        "splits": list(folder.splits),
        "pairs": len(folder.pairs()),
        "queries": len(folder.qrels()),
        "judgements": len(folder.judgements()),
    }
