"""`longmatch train`: a model from labelled or bare documents."""

from pathlib import Path
from typing import Annotated, Any

import typer

from longmatch.errors import LongmatchError
from longmatch.registry import RECIPES


def train(
    model: Annotated[str | None, typer.Argument(help=f"One of {', '.join(RECIPES)}.", show_default=False)] = None,
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
) -> None:
    """Train a model. Run again, the same command goes on where it stopped.

    A data folder holds documents.jsonl.xz and pairs.tsv or qrels.tsv, classes.tsv or links.tsv. Settings that all
    models have: seed, epochs or steps, learning_rate, weight_decay, warmup, schedule, clip, documents (a batch),
    accumulate, max_tokens (of a document), tokens_at_once, precision, validate_every, save_every, patience, keep,
    workers, device, cache (a folder of tokenised documents that runs may share). The command line wins over the file.
    For several GPUs: torchrun --nproc-per-node 4 -m longmatch train ...
    """
    from longmatch.lab.training.settings import read_config, read_pairs

    values: dict[str, Any] = read_config(config) if config else {}
    chosen: dict[str, Any] = {"model": model, "data": [*(data or []), *(more or [])], "out": out}
    for key, value in chosen.items():
        held = values.pop(key, None)
        chosen[key] = value or held
        if not chosen[key]:
            what = "a model" if key == "model" else f"--{key}"
            raise LongmatchError(f"Name {what}: longmatch train MODEL --data DIR --out DIR.")
    values |= read_pairs(settings or [])

    from longmatch.lab.training.train import train as run
    from longmatch.parallel import half_the_cores, use_processes

    use_processes(half_the_cores())
    run(*chosen.values(), **values)
