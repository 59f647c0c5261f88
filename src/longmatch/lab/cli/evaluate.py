"""`longmatch evaluate`: models x data sets, with significance, intervals and plots."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from longmatch.cli.progress import progress
from longmatch.errors import LongmatchError
from longmatch.lab.datasets.records import SPLITS


def evaluate(
    data: Annotated[list[Path], typer.Option("--data", help="A data folder; may be given several times.")],
    models: Annotated[
        str,
        typer.Option(
            help="Names or folders of trained models, parted by commas; folders that differ in the seed alone are one "
            "row. tfidf, phrases and bm25 are always there."
        ),
    ] = "default",
    split: Annotated[str, typer.Option(help="train, validation or test.")] = "test",
    out: Annotated[Path, typer.Option(help="Where encodings, runs and results go.")] = Path("out/evaluation"),
    protocol: Annotated[
        str, typer.Option(help="ranking, pairs, both; auto ranks, and takes pairs where there are no queries.")
    ] = "auto",
    measures: Annotated[
        str | None, typer.Option(help="Measures parted by commas, as nDCG@10,MRR,F1; else all that fit the set.")
    ] = None,
    seed: Annotated[int, typer.Option(help="For everything that is drawn at random.")] = 0,
    limit_queries: Annotated[int | None, typer.Option(min=1, help="Take only so many queries, at random.")] = None,
    more: Annotated[list[Path] | None, typer.Argument(help="More data folders.", show_default=False)] = None,
    fidelity: Annotated[int, typer.Option(min=0, help="Measure explanations on so many related pairs.")] = 0,
    shuffle_sections: Annotated[
        bool, typer.Option("--shuffle-sections", help="Measure also with every document's sections in random order.")
    ] = False,
    rerank_depth: Annotated[
        int, typer.Option(min=1, help="How many of bm25's best a model ranks that reads two documents together.")
    ] = 40,
    study: Annotated[
        list[str] | None,
        typer.Option(
            help="Train a model for each value of a setting and measure them all: colde:sections=2,3,4,5; may be given "
            "several times.",
            show_default=False,
        ),
    ] = None,
    processes: Annotated[
        int | None, typer.Option(min=1, help="That read documents; by default half the cores.")
    ] = None,
) -> None:
    """Measure models on labelled documents. What is done already is not done again.

    A data folder holds documents.jsonl.xz and qrels.tsv or pairs.tsv: --data A B C names several.
    """
    from longmatch.lab.evaluation.evaluate import Evaluation
    from longmatch.lab.evaluation.measures import parse_all
    from longmatch.lab.evaluation.protocols import PROTOCOLS
    from longmatch.lab.evaluation.reports.terminal import print_rows
    from longmatch.lab.evaluation.studies import parse_studies
    from longmatch.parallel import half_the_cores

    if split not in SPLITS:
        raise LongmatchError(f"There is no split {split}. Name one of {', '.join(SPLITS)}.")
    if protocol not in PROTOCOLS:
        raise LongmatchError(f"There is no protocol {protocol}. Name one of {', '.join(PROTOCOLS)}.")
    console = Console()
    out.mkdir(parents=True, exist_ok=True)
    evaluation = Evaluation(
        folders=[*data, *(more or [])],
        models=[name.strip() for name in models.split(",") if name.strip()],
        out=out,
        split=split,
        protocol=protocol,
        measures=parse_all(measures) if measures else None,
        seed=seed,
        limit=limit_queries,
        fidelity=fidelity,
        shuffle_sections=shuffle_sections,
        rerank_depth=rerank_depth,
        studies=parse_studies(study or []),
        processes=processes or half_the_cores(),
        watch=progress,
        told=lambda rows: print_rows(rows, console),
    )
    evaluation.run()
    console.print(f"Written: {out / 'results.json'}, results.md" + (" and plots/" if (out / "plots").is_dir() else ""))
