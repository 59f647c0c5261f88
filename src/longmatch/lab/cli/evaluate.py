"""`longmatch evaluate`: models x data sets, with significance tests, intervals and plots."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from longmatch.cli.output import Terminal, warn
from longmatch.cli.progress import progress


def evaluate(
    data: Annotated[list[Path], typer.Option("--data", help="A data folder; may be given several times.")],
    models: Annotated[
        str,
        typer.Option(
            help="Names or folders of trained models, comma-separated; folders that differ only in the seed make one "
            "row. tfidf, phrases and bm25 are always included."
        ),
    ] = "default",
    split: Annotated[str, typer.Option(help="train, validation or test.")] = "test",
    out: Annotated[Path, typer.Option(help="The folder for encodings, runs and results.")] = Path("out/evaluation"),
    protocol: Annotated[
        str, typer.Option(help="ranking, pairs or both; auto ranks, and classifies pairs where a set has no queries.")
    ] = "auto",
    measures: Annotated[
        str | None, typer.Option(help="Comma-separated measures such as nDCG@10,MRR,F1; by default all that apply.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Of sampling, shuffling and significance tests.")] = 0,
    limit_queries: Annotated[
        int | None, typer.Option(min=1, help="Evaluate on a random sample of N queries.", metavar="N")
    ] = None,
    more: Annotated[list[Path] | None, typer.Argument(help="More data folders.", show_default=False)] = None,
    fidelity: Annotated[int, typer.Option(min=0, help="Measure explanations on N related pairs.", metavar="N")] = 0,
    shuffle_sections: Annotated[
        bool, typer.Option("--shuffle-sections", help="Evaluate also with every document's sections in random order.")
    ] = False,
    rerank_depth: Annotated[
        int,
        typer.Option(
            min=1,
            help="Rerank the first stage's best N documents with models that read both documents together.",
            metavar="N",
        ),
    ] = 40,
    first_stage: Annotated[
        Literal["bm25", "default"], typer.Option(help="What finds the documents that such models rerank.")
    ] = "bm25",
    combine_ranks: Annotated[
        bool,
        typer.Option(
            "--combine-ranks",
            help="Order them by the mean of the first stage's rank and the model's, not by the model's alone.",
        ),
    ] = False,
    study: Annotated[
        list[str] | None,
        typer.Option(
            help="Train and evaluate a model for each value of a setting: colde:sections=2,3,4,5; may be given "
            "several times.",
            show_default=False,
        ),
    ] = None,
    processes: Annotated[
        int | None, typer.Option(min=1, help="Processes that read documents; by default half the cores.")
    ] = None,
) -> None:
    """Measure models on labelled documents. Finished work is not repeated.

    A data folder holds documents.jsonl.xz and qrels.tsv or pairs.tsv: --data A B C names several.
    """
    from longmatch.lab.evaluation.evaluate import evaluate as run
    from longmatch.lab.evaluation.report import print_rows
    from longmatch.parallel import half_the_cores

    console = Terminal()
    run(
        [*data, *(more or [])],
        [name.strip() for name in models.split(",") if name.strip()],
        out=out,
        split=split,
        protocol=protocol,
        measures=measures,
        seed=seed,
        limit_queries=limit_queries,
        fidelity=fidelity,
        shuffle_sections=shuffle_sections,
        rerank_depth=rerank_depth,
        first_stage=first_stage,
        combine_ranks=combine_ranks,
        studies=study or (),
        processes=processes or half_the_cores(),
        show_progress=progress,
        on_set_done=lambda report: print_rows(report.rows, console),
        on_model_report=warn,
    )
    console.print(f"Written: {out / 'results.json'}, results.md" + (" and plots/" if (out / "plots").is_dir() else ""))
