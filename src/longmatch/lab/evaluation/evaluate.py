"""Run models over data sets: encode what is missing, score what is missing, report all that is there."""

import os
import shlex
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from longmatch.errors import LongmatchError, ReadError
from longmatch.lab.datasets.collection import DataFolder
from longmatch.lab.datasets.records import Split
from longmatch.lab.evaluation.answering import Question, Watch, answer
from longmatch.lab.evaluation.corpus import Corpus
from longmatch.lab.evaluation.entrants import Entrant, entrants_of, rule_and_place, told_path
from longmatch.lab.evaluation.measures import Measure
from longmatch.lab.evaluation.protocols import Protocol, Wanted
from longmatch.lab.evaluation.rows import Row
from longmatch.lab.evaluation.studies import StudyPlan
from longmatch.load import FIXED, load
from longmatch.matching.matcher import Matcher, Progress
from longmatch.matching.reranking import DEPTH
from longmatch.parallel import use_processes
from longmatch.registry import MODELS


@dataclass(frozen=True)
class Evaluation:
    """Models over data sets, written under `out` row by row; what is there already is not done again."""

    folders: Sequence[Path]
    models: Sequence[str]  # names, folders of trained models, rule@FOLDER
    out: Path
    split: Split = "test"
    protocol: Protocol = "auto"
    measures: Sequence[Measure] | None = None
    seed: int = 0
    limit: int | None = None
    fidelity: int = 0  # pairs to measure explanations on
    shuffle_sections: bool = False  # measure also with the sections of every document in random order
    rerank_depth: int = DEPTH  # documents a model ranks anew that reads two together
    studies: Sequence[StudyPlan] = ()  # models to train for each value of a setting
    processes: int = 1  # that read documents
    watch: Watch | None = None
    told: Callable[[list[Row]], None] | None = None  # called with the rows of a set when it is done

    def run(self) -> list[Row]:
        """All rows found under `out` afterwards."""
        from longmatch.lab.evaluation.reports.write import Reports

        use_processes(self.processes)
        reports = Reports(self.out, self.measures, self.seed)
        folders = self._valid_folders()
        named = entrants_of(self.models)
        open_already = {entrant.word: self._load(entrant.word) for entrant in named if not entrant.trained}
        rows: list[Row] = []
        for folder in folders:
            entrants = [*named, *(found for plan in self.studies for found in plan.entrants(self.out, folder.path))]
            for corpus in self._corpora(folder):
                question = self._question(corpus)
                explained: set[str] = set()
                for entrant in entrants:
                    matcher = open_already.get(entrant.word) or self._load(entrant.word)
                    answer(question, entrant, matcher, self.out, self.command, self._watch)
                    reports.write(unfinished=corpus.name)
                    if self.fidelity and entrant.name(corpus.name) not in explained:
                        self._explain(corpus, entrant, matcher)
                        explained.add(entrant.name(corpus.name))  # of several seeds the first
                rows = reports.write()
                if self.told:
                    self.told([row for row in rows if (row.run.data, row.run.split) == (corpus.name, self.split)])
        return rows

    def measure(self, models: Sequence[str]) -> None:
        """Answer for some of the models and report nothing: several processes can share the work of one evaluation."""
        use_processes(self.processes)
        entrants = [entrant for entrant in entrants_of(models) if entrant.word in models]
        for folder in self._valid_folders():
            for corpus in self._corpora(folder):
                for entrant in entrants:
                    matcher = self._load(entrant.word)
                    answer(self._question(corpus), entrant, matcher, self.out, self.command, self._watch)

    @property
    def command(self) -> str:
        """The command that does this; data folders by their names, others as they were given below this folder."""
        words = ["longmatch", "evaluate", "--data", *(folder.resolve().name for folder in self.folders)]
        words += ["--models", ",".join(_told_word(word) for word in self.models)] if self.models else []
        options = {
            "--split": self.split,
            "--protocol": self.protocol if self.protocol != "auto" else None,
            "--measures": ",".join(measure.name for measure in self.measures) if self.measures else None,
            "--seed": self.seed or None,
            "--limit-queries": self.limit,
            "--fidelity": self.fidelity or None,
            "--rerank-depth": self.rerank_depth if self.rerank_depth != DEPTH else None,
        }
        words += [str(word) for option in options.items() if option[1] is not None for word in option]
        words += ["--shuffle-sections"] if self.shuffle_sections else []
        words += [word for plan in self.studies for word in ("--study", str(plan))]
        return shlex.join([*words, "--out", told_path(self.out)])

    def _valid_folders(self) -> list[DataFolder]:
        """A wrong path is said before hours of work."""
        folders = [DataFolder(path) for path in self.folders]
        for folder in folders:
            folder.validate()
            if self._wanted(folder) == Wanted(False, False):
                raise ReadError(folder.path, f"has no labels to measure on in {self.split}", "Name another --split.")
        return folders

    def _question(self, corpus: Corpus) -> Question:
        wanted = self._wanted(corpus.folder)
        return Question(corpus, self.split, wanted, self.limit, self.seed, self.rerank_depth)

    def _corpora(self, folder: DataFolder) -> Iterator[Corpus]:
        """The set as it is; then, if that is asked for, with its sections in random order."""
        yield Corpus(folder)
        if self.shuffle_sections:
            yield Corpus(folder, self.seed)

    def _explain(self, corpus: Corpus, entrant: Entrant, matcher: Matcher) -> None:
        from longmatch.lab.evaluation.fidelity import measure_fidelity
        from longmatch.lab.evaluation.provenance import made
        from longmatch.lab.evaluation.reports.write import fidelity_path

        name = entrant.name(corpus.name)
        path = fidelity_path(self.out, corpus.name, name, self.split)
        facts = made(self.command, matcher)
        with self._watch(f"{corpus.name}: are {name}'s explanations true", self.fidelity) as progress:
            measure_fidelity(path, corpus, matcher, self.split, self.fidelity, self.seed, facts, progress)

    def _wanted(self, folder: DataFolder) -> Wanted:
        return Wanted.of(folder, self.split, self.protocol, self.measures)

    def _load(self, name: str) -> Matcher:
        return load(name, self._backbone) if name in MODELS and name not in FIXED else load(name)

    @cached_property
    def _backbone(self) -> Any:
        """Shared by all models that read with the packaged one as it is; the default has changed its own."""
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


def _told_word(word: str) -> str:
    """A model as it was named; of a folder elsewhere the name alone."""
    rule, place = rule_and_place(word)
    told = told_path(Path(place)) if Path(place).is_dir() else place
    return f"{rule}@{told}" if rule and place else rule or told
