"""Evaluate models on data sets: encode and score what is missing, and report all results."""

import os
import shlex
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from longmatch.errors import LongmatchError, ReadError
from longmatch.lab.datasets.collection import DataFolder
from longmatch.lab.datasets.records import SPLITS, Split
from longmatch.lab.evaluation.corpus import Corpus
from longmatch.lab.evaluation.measures import Measure, parse_all
from longmatch.lab.evaluation.model_spec import (
    ModelSpec,
    Study,
    parse_studies,
    portable_path,
    portable_source,
    resolve_models,
)
from longmatch.lab.evaluation.protocols import PROTOCOLS, ActiveProtocols, Protocol
from longmatch.lab.evaluation.result_rows import ResultRow
from longmatch.lab.evaluation.runs import EvaluationSetup, ShowProgress, run_model
from longmatch.lab.evaluation.scoring.pairs import FIRST_STAGES, FirstStage, Reranking
from longmatch.matching.matcher import DEPTH, Matcher, Progress
from longmatch.models.loading import load
from longmatch.models.registry import models
from longmatch.parallel import use_processes

if TYPE_CHECKING:
    from longmatch.lab.evaluation.report import Report

PathLike = str | os.PathLike[str]
OUT = Path("out") / "evaluation"


def evaluate(
    data: PathLike | Sequence[PathLike],
    models: str | Sequence[str] = ("default",),
    *,
    out: PathLike = OUT,
    split: str = "test",
    protocol: str = "auto",
    measures: str | Sequence[str] | None = None,
    seed: int = 0,
    limit_queries: int | None = None,
    fidelity: int = 0,
    shuffle_sections: bool = False,
    rerank_depth: int = DEPTH,
    first_stage: FirstStage = "bm25",
    combine_ranks: bool = False,
    studies: Sequence[str] = (),
    processes: int = 1,
    show_progress: ShowProgress | None = None,
    on_set_done: "Callable[[Report], None] | None" = None,
    on_model_report: Callable[[str], None] | None = None,
) -> "Report":
    """Evaluate models on labelled data folders; finished work under `out` is not repeated.

    The lexical baselines tfidf, phrases and bm25 are always included.

    Args:
        data: one or several data folders, with documents and `qrels.tsv` or `pairs.tsv`; or `acl/pairs-near.tsv`, a
            file of other pairs of a folder's documents.
        models: names (`default`, `sdr`), folders of trained models, or `rule@FOLDER`; folders that differ only in the
            seed make one row.
        out: the folder for encodings, runs, results.json, results.md and plots.
        split: `train`, `validation` or `test`.
        protocol: `ranking`, `pairs` or `both`; `auto` ranks, and classifies pairs where a set has no queries.
        measures: names such as `nDCG@10`, as a list or comma-separated; all that apply by default.
        seed: of sampling, shuffling and significance tests.
        limit_queries: evaluate on a random sample of this many queries.
        fidelity: measure explanations on this many related pairs.
        shuffle_sections: evaluate also with every document's sections in random order.
        rerank_depth: how many of the first stage's best documents are reranked by models that read both documents
            together.
        first_stage: `bm25` or `default`.
        combine_ranks: order these documents by the mean of the first stage's rank and the model's, not by the model's
            alone.
        studies: `colde:sections=2,3,4`: train and evaluate a model for each value of a setting.
        processes: that read documents; more than one need a script with `if __name__ == "__main__"`.
        show_progress: opens a progress display; see `ShowProgress`.
        on_set_done: called with the report of each set when it is finished.
        on_model_report: called at the end with one line for each language model: pairs asked, tokens.

    >>> import json, tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> texts = {"a": "Ferries cross the strait.", "b": "A ferry crosses the strait.", "c": "Bread needs flour."}
    >>> lines = [json.dumps({"id": id, "text": text}) for id, text in texts.items()]
    >>> _ = (folder / "documents.jsonl").write_text("\\n".join(lines))
    >>> _ = (folder / "qrels.tsv").write_text("split\\tquery\\tdocument\\tgrade\\ntest\\ta\\tb\\t1\\n")
    >>> report = evaluate(folder, "tfidf", out=folder / "out", measures="MRR,nDCG@10")
    >>> for row in report:
    ...     print(row.model, row.measures)
    bm25 {'MRR': 1.0, 'nDCG@10': 1.0}
    phrases {'MRR': 1.0, 'nDCG@10': 1.0}
    tfidf {'MRR': 1.0, 'nDCG@10': 1.0}
    """
    from longmatch.lab.evaluation.report import Report

    folders = [Path(folder) for folder in ([data] if isinstance(data, str | os.PathLike) else data)]
    if not folders:
        raise LongmatchError("There is nothing to evaluate on. Name a data folder with --data.")
    if split not in SPLITS:
        raise LongmatchError(f"There is no split {split}. Name one of {', '.join(SPLITS)}.")
    if protocol not in PROTOCOLS:
        raise LongmatchError(f"There is no protocol {protocol}. Name one of {', '.join(PROTOCOLS)}.")
    if first_stage not in FIRST_STAGES:
        raise LongmatchError(f"There is no first stage {first_stage}. Name one of {', '.join(FIRST_STAGES)}.")
    names = measures if isinstance(measures, str) else ",".join(measures or ())
    path = Path(out)
    path.mkdir(parents=True, exist_ok=True)
    evaluation = Evaluation(
        folders,
        [models] if isinstance(models, str) else list(models),
        path,
        split=split,
        protocol=protocol,
        measures=parse_all(names) if names else None,
        seed=seed,
        limit=limit_queries,
        fidelity=fidelity,
        shuffle_sections=shuffle_sections,
        reranking=Reranking(rerank_depth, first_stage, combine_ranks),
        studies=parse_studies(studies),
        processes=processes,
        show_progress=show_progress,
        on_set_done=(lambda rows: on_set_done(Report(tuple(rows), path))) if on_set_done else None,
        on_model_report=on_model_report,
    )
    return Report(tuple(evaluation.run()), path)


@dataclass(frozen=True)
class Evaluation:
    """Models on data sets, written under `out` row by row; finished work is not repeated."""

    folders: Sequence[Path]
    models: Sequence[str]  # names, folders of trained models, rule@FOLDER
    out: Path
    split: Split = "test"
    protocol: Protocol = "auto"
    measures: Sequence[Measure] | None = None
    seed: int = 0
    limit: int | None = None
    fidelity: int = 0  # pairs to measure explanations on
    shuffle_sections: bool = False  # evaluate also with every document's sections in random order
    reranking: Reranking = field(default_factory=Reranking)  # for models that read both documents together
    studies: Sequence[Study] = ()
    processes: int = 1  # that read documents
    show_progress: ShowProgress | None = None
    on_set_done: Callable[[list[ResultRow]], None] | None = None  # called with the rows of a finished set
    on_model_report: Callable[[str], None] | None = None

    def run(self) -> list[ResultRow]:
        """Evaluate, write the report of all runs under `out`, and return the rows of the sets evaluated."""
        from longmatch.lab.evaluation.report_files import ReportWriter

        use_processes(self.processes)
        writer = ReportWriter(self.out, self.measures, self.seed)
        folders = self._valid_folders()
        named = resolve_models(self.models)
        loaded = {spec.source: self._load(spec.source) for spec in named if not spec.training}
        rows: list[ResultRow] = []
        evaluated: set[str] = set()
        for folder in folders:
            studied = (spec for study in self.studies for spec in study.train_models(self.out, folder.place))
            specs = [*named, *studied]
            for corpus in self._corpora(folder):
                setup = self._setup(corpus)
                explained: set[str] = set()
                for spec in specs:
                    matcher = loaded.get(spec.source) or self._load(spec.source)
                    run_model(setup, spec, matcher, self.out, self.command, self._show_progress)
                    writer.write(unfinished=corpus.name)
                    if self.fidelity and spec.name(corpus.name) not in explained:
                        self._explain(corpus, spec, matcher)
                        explained.add(spec.name(corpus.name))  # of several seeds the first
                rows = writer.write()
                evaluated.add(corpus.name)
                if self.on_set_done:
                    self.on_set_done(self._of_sets(rows, {corpus.name}))
        for matcher in loaded.values():
            if self.on_model_report and (line := matcher.report()):
                self.on_model_report(line)
        return self._of_sets(rows, evaluated)

    def measure(self, models: Sequence[str]) -> None:
        """Run some of the models without a report: several processes can share one evaluation."""
        use_processes(self.processes)
        specs = [spec for spec in resolve_models(models) if spec.source in models]
        for folder in self._valid_folders():
            for corpus in self._corpora(folder):
                for spec in specs:
                    matcher = self._load(spec.source)
                    run_model(self._setup(corpus), spec, matcher, self.out, self.command, self._show_progress)

    @property
    def command(self) -> str:
        """The equivalent command; data folders by name, other paths in portable form."""
        words = ["longmatch", "evaluate", "--data"]
        for folder in (folder.resolve() for folder in self.folders):
            words.append(f"{folder.parent.name}/{folder.name}" if folder.suffix == ".tsv" else folder.name)
        words += ["--models", ",".join(map(portable_source, self.models))] if self.models else []
        options = {
            "--split": self.split,
            "--protocol": self.protocol if self.protocol != "auto" else None,
            "--measures": ",".join(measure.name for measure in self.measures) if self.measures else None,
            "--seed": self.seed or None,
            "--limit-queries": self.limit,
            "--fidelity": self.fidelity or None,
            "--rerank-depth": self.reranking.depth if self.reranking.depth != DEPTH else None,
            "--first-stage": self.reranking.first if self.reranking.first != "bm25" else None,
        }
        words += [str(word) for option in options.items() if option[1] is not None for word in option]
        words += ["--combine-ranks"] if self.reranking.combined else []
        words += ["--shuffle-sections"] if self.shuffle_sections else []
        words += [word for study in self.studies for word in ("--study", str(study))]
        return shlex.join([*words, "--out", portable_path(self.out)])

    def _valid_folders(self) -> list[DataFolder]:
        """Checked before hours of work."""
        folders = [DataFolder(path) for path in self.folders]
        for folder in folders:
            folder.validate()
            if not self._protocols(folder):
                raise ReadError(folder.place, f"has no labels to measure on in {self.split}", "Name another --split.")
        return folders

    def _of_sets(self, rows: Sequence[ResultRow], names: set[str]) -> list[ResultRow]:
        return [row for row in rows if row.run.data in names and row.run.split == self.split]

    def _setup(self, corpus: Corpus) -> EvaluationSetup:
        protocols = self._protocols(corpus.folder)
        return EvaluationSetup(corpus, self.split, protocols, self.limit, self.seed, self.reranking)

    def _corpora(self, folder: DataFolder) -> list[Corpus]:
        """The set as it is and, if requested, with shuffled sections."""
        return [Corpus(folder), *([Corpus(folder, self.seed)] if self.shuffle_sections else [])]

    def _explain(self, corpus: Corpus, spec: ModelSpec, matcher: Matcher) -> None:
        from longmatch.lab.evaluation.fidelity import measure_fidelity
        from longmatch.lab.evaluation.provenance import provenance
        from longmatch.lab.evaluation.report_files import fidelity_path

        name = spec.name(corpus.name)
        path = fidelity_path(self.out, corpus.name, name, self.split)
        made = provenance(self.command, matcher)
        with self._show_progress(f"{corpus.name}: fidelity of {name}'s explanations", self.fidelity) as progress:
            measure_fidelity(path, corpus, matcher, self.split, self.fidelity, self.seed, made, progress)

    def _protocols(self, folder: DataFolder) -> ActiveProtocols:
        return ActiveProtocols.of(folder, self.split, self.protocol, self.measures)

    def _load(self, name: str) -> Matcher:
        declared = models().get(name)
        return load(name, self._backbone) if declared and declared.rule and declared.place == "backbone" else load(name)

    @cached_property
    def _backbone(self) -> Any:
        """Shared by all models that use the packaged backbone."""
        from longmatch.encoders.backbone import Backbone

        return Backbone.load()

    def _show_progress(self, what: str, total: int | None) -> AbstractContextManager[Progress]:
        return self.show_progress(what, total) if self.show_progress else nullcontext(lambda steps: None)
