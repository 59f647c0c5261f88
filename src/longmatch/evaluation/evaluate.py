"""Run models over data sets: encode what is missing, score what is missing, report all that is there."""

import hashlib
import os
import shlex
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from longmatch.datasets.collection import DataFolder
from longmatch.datasets.records import Split
from longmatch.errors import LongmatchError, ReadError
from longmatch.evaluation.code import SCORING_CODE, code_digest
from longmatch.evaluation.corpus import Corpus
from longmatch.evaluation.encodings.store import Store
from longmatch.evaluation.measures import Measure, RankingMeasure
from longmatch.evaluation.parallel import use_processes
from longmatch.evaluation.protocols import Task, run
from longmatch.evaluation.rows import Row
from longmatch.evaluation.runs import Run, run_path, verdicts_of
from longmatch.models.load import LEXICAL, MODELS, load
from longmatch.models.matcher import Matcher, Progress

Watch = Callable[[str, int | None], AbstractContextManager[Progress]]


@dataclass(frozen=True)
class Evaluation:
    """Models over data sets, written under `out` row by row; what is there already is not done again."""

    folders: Sequence[Path]
    models: Sequence[str]
    out: Path
    split: Split = "test"
    measures: Sequence[Measure] | None = None
    seed: int = 0
    limit: int | None = None
    fidelity: int = 0  # pairs to measure explanations on
    processes: int = 1  # that read documents; more need a script with `if __name__ == "__main__"`
    watch: Watch | None = None
    told: Callable[[list[Row]], None] | None = None  # called with the rows of a set when it is done

    def run(self) -> list[Row]:
        """All rows found under `out` afterwards."""
        from longmatch.evaluation.reports.about import write_about
        from longmatch.evaluation.reports.write import Reports

        use_processes(self.processes)
        reports = Reports(self.out, self.measures, self.seed)
        folders = [DataFolder(path) for path in self.folders]  # a wrong path is said before hours of work
        for folder in folders:
            folder.validate()
            if not (self._wants_ranking(folder) or self._wants_pairs(folder)):
                raise ReadError(folder.path, f"has no labels to measure on in {self.split}", "Name another --split.")
        names = list(dict.fromkeys([*LEXICAL, *self.models]))  # a model that loses to words should be seen to
        matchers = {name: self._load(name) for name in names}
        rows: list[Row] = []
        for folder in folders:
            corpus = Corpus(folder)
            for name in names:
                self._row(corpus, name, matchers[name])
                reports.write(unfinished=corpus.name)
            if self.fidelity:
                self._fidelity(corpus, matchers)
            rows = reports.write()
            if self.told:
                self.told([row for row in rows if (row.run.data, row.run.split) == (corpus.name, self.split)])
        write_about(self.out, self.command)
        return rows

    @property
    def command(self) -> str:
        """The command that does this; folders by their names."""
        words = ["longmatch", "evaluate", "--data", *(folder.resolve().name for folder in self.folders)]
        words += ["--models", ",".join(self.models)] if self.models else []
        options = {
            "--split": self.split,
            "--measures": ",".join(measure.name for measure in self.measures) if self.measures else None,
            "--seed": self.seed or None,
            "--limit-queries": self.limit,
            "--fidelity": self.fidelity or None,
            "--out": self.out.resolve().name,
        }
        return shlex.join([*words, *(str(w) for option in options.items() if option[1] is not None for w in option)])

    def _row(self, corpus: Corpus, name: str, matcher: Matcher) -> None:
        """Score one model on one set, unless that is done."""
        from longmatch.evaluation.scoring.choose import scorer_of

        scorer = scorer_of(matcher)
        facts = {
            "documents": corpus.fingerprint,
            "labels": _labels_digest(corpus.folder),
            "layers": [layer.key for layer in scorer.layers],
            "model": dict(scorer.facts),
            "code": code_digest(*SCORING_CODE, "evaluation/scoring", "evaluation/protocols.py"),
            "ranking": (ranking := self._wants_ranking(corpus.folder)),
            "pairs": (pairs := self._wants_pairs(corpus.folder)),
            "seed": self.seed if self.limit else None,
        }
        path = run_path(self.out, corpus.name, name, self.split, self.limit)
        if path.exists() and Run.load(path).facts == facts:
            return
        task = Task.of(corpus, self.split, ranking, pairs, self.limit, self.seed)
        with self._watch(f"{corpus.name}: encoding for {name}", len(corpus)) as progress:
            stored = Store(self.out / "encodings", corpus).build(scorer.layers, progress)
            scorer.open(stored, corpus)
        started = time.perf_counter()
        with self._watch(f"{corpus.name}: scoring with {name}", len(task.numbers(corpus))) as progress:
            outcome = run(task, corpus, scorer, progress)
        seconds = time.perf_counter() - started
        verdicts, sources = verdicts_of(outcome, task)
        Run(
            data=corpus.name,
            model=name,
            split=self.split,
            seed=self.seed,
            limit=self.limit,
            facts=facts,
            answers=outcome.answers,
            verdicts=verdicts,
            sources=sources,
            documents=len(corpus),
            unhandled={corpus.ids[number]: why for number, why in sorted(scorer.unhandled.items())},
            encoding_seconds=scorer.encoding_seconds or sum(layer.seconds for layer in stored),
            scoring_seconds=seconds,
            device=_device(),
            words=corpus.words([*outcome.answers, *sources]),
        ).save(self.out)

    def _fidelity(self, corpus: Corpus, matchers: dict[str, Matcher]) -> None:
        from longmatch.evaluation.fidelity import measure_fidelity

        for name, matcher in matchers.items():
            with self._watch(f"{corpus.name}: are {name}'s explanations true", self.fidelity) as progress:
                measure_fidelity(self.out, corpus, name, matcher, self.split, self.fidelity, self.seed, progress)

    def _wants_ranking(self, folder: DataFolder) -> bool:
        asked = self.measures is None or any(isinstance(m, RankingMeasure) for m in self.measures)
        return asked and bool(folder.judgements(self.split))

    def _wants_pairs(self, folder: DataFolder) -> bool:
        """Pairs are classified where they are all there is, or where a measure of pairs is asked for."""
        if self.measures is None:
            return bool(folder.pairs(self.split)) and not folder.judgements(self.split)
        return any(not isinstance(m, RankingMeasure) for m in self.measures) and bool(folder.pairs(self.split))

    def _load(self, name: str) -> Matcher:
        return load(name, self._backbone) if name in MODELS and name not in LEXICAL else load(name)

    @cached_property
    def _backbone(self) -> Any:
        """Shared by all models that read with the packaged one."""
        from longmatch.encoders.backbone import Backbone

        return Backbone.load()

    def _watch(self, what: str, total: int | None) -> AbstractContextManager[Progress]:
        return self.watch(what, total) if self.watch else nullcontext(lambda steps: None)


def evaluate(
    folders: Sequence[str | os.PathLike[str]],
    models: Sequence[str],
    out: str | os.PathLike[str],
    **options: Any,
) -> list[Row]:
    """Evaluate models on data folders; see Evaluation for the options. Returns the rows, also written to `out`."""
    if not folders:
        raise LongmatchError("There is nothing to evaluate on. Name a data folder with --data.")
    return Evaluation([Path(folder) for folder in folders], list(models), Path(out), **options).run()


def _labels_digest(folder: DataFolder) -> str:
    digest = hashlib.sha256()
    for name in ("qrels.tsv", "pairs.tsv", "candidates.tsv", "pools.tsv"):
        path = folder.path / name
        digest.update(name.encode() + (path.read_bytes() if path.is_file() else b""))
    return digest.hexdigest()[:16]


def _device() -> str:
    import torch

    return str(torch.cuda.get_device_name()) if torch.cuda.is_available() else "CPU"
