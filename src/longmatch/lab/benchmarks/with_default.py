"""What models that read both documents add to the default, from the stored results on labelled pairs.

    python -m longmatch.lab.benchmarks.with_default [--sets acl-near papers-near]

A pair's rank by the default and its rank by the model are averaged, so nothing is fitted. Average precision and AUC of
the model alone and with the default, and p of the difference from the default alone and from the model alone (paired
bootstrap over source documents, every seed of the model).
"""

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import replace

from longmatch.lab.benchmarks.colde_rows import Names
from longmatch.lab.benchmarks.near_rows import near_rows, near_studies
from longmatch.lab.benchmarks.paper_tables import chosen, markdown_line, pooled_row, rounded_p
from longmatch.lab.benchmarks.stored_results import ResultGroup, StoredResults
from longmatch.lab.evaluation.measures import PairPredictions, parse
from longmatch.lab.evaluation.result_rows import Comparer
from longmatch.lab.evaluation.runs import ModelRun
from longmatch.matching.reranking import average_ranks

FIRST = "default"
MODELS = ("cross-encoder", "SST, 20 epochs", "BERT-PLI", "OPT-Match", "CIG", "RPRS", "TF-IDF")
SHOWN: Mapping[str, Names] = chosen({**near_rows(), **near_studies()["SST after 20 epochs"]}, MODELS)
MEASURES = {"average_precision": "AP", "roc_auc": "AUC"}


def combined(run: ModelRun, first: ModelRun) -> ModelRun:
    """A run whose scores are the mean ranks by it and by the first."""
    assert run.verdicts and first.verdicts
    scores = average_ranks(run.verdicts.scores, first.verdicts.scores)
    return replace(run, verdicts=PairPredictions(run.verdicts.labels, scores), answers={})


def lines(group: ResultGroup, models: Mapping[str, Names] = SHOWN) -> list[str]:
    """The table of one set in Markdown."""
    first = next(run for run in group.runs if run.model == FIRST and run.verdicts)
    alone, comparer = pooled_row(group, FIRST, [FIRST]), Comparer()
    assert alone
    heads = [cell for name in MEASURES.values() for cell in (name, f"{name} with the default", "p", "p, model")]
    rows = [f"{group.data}:", "", markdown_line(["", *heads, "seeds"]), "|---|" + "---:|" * (len(heads) + 1)]
    values = [cell for measure in MEASURES for cell in (f"{100 * alone.measures[measure]:.1f}", "", "", "")]
    rows.append(markdown_line([FIRST, *values, "1"]))
    for label, names in models.items():
        runs = [run for run in group.runs if run.model in names and run.verdicts]
        if not runs:
            continue
        both = replace(group, runs=[combined(run, first) for run in runs])
        model, added = pooled_row(group, label, names), pooled_row(both, f"{label} and default", names)
        assert model and added
        cells = []
        for measure in MEASURES:
            tested = [comparer.compare(added, other, parse(measure)).p for other in (alone, model)]
            cells += [f"{100 * row.measures[measure]:.1f}" for row in (model, added)] + [*map(rounded_p, tested)]
        rows.append(markdown_line([label, *cells, str(max(1, len(model.seeds)))]))
    return [*rows, ""]


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", nargs="+", default=["acl-near", "papers-near"])
    stored = StoredResults.load()
    for name in parser.parse_args(arguments).sets:
        print("\n".join(lines(stored.groups[f"{name}.test"])))


if __name__ == "__main__":
    main()
