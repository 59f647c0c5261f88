"""`longmatch train`: a model from labelled or bare documents."""

from pathlib import Path
from typing import Annotated, Any

import typer

from longmatch.encoders.pretrained import TOKEN_VECTORS
from longmatch.errors import LongmatchError
from longmatch.models.registry import names_of

DEFAULT_PANEL = "longmatch train default (docs/scoring.md)"


def train(
    model: Annotated[
        str | None,
        typer.Argument(
            help=f"default, {TOKEN_VECTORS}, or one of {', '.join(names_of('recipe'))}.", show_default=False
        ),
    ] = None,
    more: Annotated[list[Path] | None, typer.Argument(help="More data folders.", show_default=False)] = None,
    data: Annotated[
        list[Path] | None,
        typer.Option("--data", help="A data folder or file; may be given several times.", show_default=False),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="The new model's folder.", show_default=False)] = None,
    config: Annotated[
        Path | None, typer.Option(help="A TOML or JSON file with settings, model, data and out.", show_default=False)
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", help="A setting, as epochs=5; may be given several times.", show_default=False),
    ] = None,
    preset: Annotated[
        str | None, typer.Option(help="Named settings: paper, for the values of the model's paper.", show_default=False)
    ] = None,
    step: Annotated[
        str | None,
        typer.Option(
            help="background, features, weights, calibration, report: comma-separated; by default all.",
            rich_help_panel=DEFAULT_PANEL,
            show_default=False,
        ),
    ] = None,
    sets: Annotated[
        str | None,
        typer.Option(
            help="Comma-separated names of data sets: folders of --data.",
            rich_help_panel=DEFAULT_PANEL,
            show_default=False,
        ),
    ] = None,
    install: Annotated[
        bool,
        typer.Option("--install", help="Copy what --out holds into the package.", rich_help_panel=DEFAULT_PANEL),
    ] = False,
) -> None:
    """Train a model. Run again, the same command goes on where it stopped.

    A data folder holds documents.jsonl.xz and pairs.tsv or qrels.tsv, classes.tsv or links.tsv. Settings that all
    models have: seed, epochs or steps, least_steps, learning_rate, head_learning_rate (of new layers), weight_decay,
    warmup, schedule, clip, documents (a batch), negatives, reachable, accumulate, max_tokens (of a document),
    tokens_at_once, precision, validate_every, save_every, patience (in epochs), keep, workers, device, cache (a folder
    of tokenised documents that runs may share). The command line wins over the file, and both over --preset.
    For several GPUs: torchrun --nproc-per-node 4 -m longmatch train ...

    longmatch train default makes the matcher that ships: --data holds the data sets' folders, and its settings are
    queries, sources (of pairs), splits, sides, layers (a folder of tokens and vectors that runs may share).

    longmatch train token-vectors learns a vector for each token from a transformer (--set teacher=NAME, by default the
    packaged one), so that their sums are near where it finds sentences near: a backbone that needs no transformer.
    --data holds the data sets' folders; --out is a backbone: longmatch index LIBRARY FILES --backbone OUT.
    """
    from longmatch.lab.training.settings import read_config, read_pairs

    values: dict[str, Any] = read_config(config) if config else {}
    chosen: dict[str, Any] = {"model": model, "data": [*(data or []), *(more or [])], "out": out}
    chosen = {key: value or values.pop(key, None) for key, value in chosen.items()}
    if chosen["model"] == TOKEN_VECTORS:
        _train_token_vectors(chosen["data"], chosen["out"], values | read_pairs(settings or []))
        return
    is_default = chosen["model"] == "default"
    for key, value in chosen.items():
        if not value and not (is_default and key == "data"):
            what = "a model" if key == "model" else f"--{key}"
            raise LongmatchError(f"Name {what}: longmatch train MODEL --data DIR --out DIR.")
    values |= ({"preset": preset} if preset else {}) | read_pairs(settings or [])
    if is_default:
        _train_default(chosen["data"] or [], Path(chosen["out"]), step, sets, install, values)
        return
    if step or sets or install:
        raise LongmatchError("--step, --sets and --install are options of longmatch train default alone.")

    from longmatch.lab.training.train import train as run
    from longmatch.parallel import half_the_cores, use_processes

    use_processes(half_the_cores())
    run(*chosen.values(), **values)


def _train_token_vectors(data: list[Path], out: Path | None, values: dict[str, Any]) -> None:
    from longmatch.lab.default.token_vectors import write_token_vectors
    from longmatch.parallel import half_the_cores, use_processes

    teacher = values.pop("teacher", None)
    if len(data) != 1 or out is None or values:
        wanted = "longmatch train token-vectors --data DIR --out DIR [--set teacher=NAME]"
        raise LongmatchError(f"Name the folder that holds the data sets' folders, and nothing else: {wanted}.")
    use_processes(half_the_cores())
    write_token_vectors(Path(data[0]), Path(out), teacher)


def _train_default(
    data: list[Path], out: Path, step: str | None, sets: str | None, install: bool, values: dict[str, Any]
) -> None:
    from longmatch.lab.default.pipeline import train_default

    if len(data) > 1:
        raise LongmatchError("longmatch train default takes one --data: the folder that holds the data sets' folders.")
    train_default(Path(data[0]) if data else None, out, step, sets, install, **values)
