"""The results of one model on one set, stored as JSON; measures, intervals and tests are computed from them."""

import hashlib
import json
import math
import os
import re
import time
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from longmatch.lab.datasets.records import Split
from longmatch.lab.evaluation.corpus import Corpus
from longmatch.lab.evaluation.measures import PairPredictions, QueryResult
from longmatch.lab.evaluation.model_spec import ModelSpec
from longmatch.lab.evaluation.protocols import ActiveProtocols, EvaluationTask, score_task
from longmatch.lab.evaluation.provenance import provenance
from longmatch.lab.evaluation.scoring.pairs import PairScorer, Reranking, scorer_of
from longmatch.lab.evaluation.scoring.scorer import Scorer
from longmatch.lab.store.digests import code_digest
from longmatch.lab.store.store import LayerStore
from longmatch.matching.matcher import Matcher, Progress
from longmatch.models.llm.matcher import LlmMatcher

PROTOCOL_FACTS = ("ranking", "pairs")  # a run of both protocols also serves where one is needed


@dataclass(frozen=True)
class ModelRun:
    """One model on one split of one set."""

    data: str
    model: str
    split: str
    seed: int
    limit: int | None
    facts: Mapping[str, Any]  # everything the results depend on
    answers: Mapping[str, QueryResult]  # by query
    verdicts: PairPredictions | None  # of the pairs
    sources: tuple[str, ...]  # the source document of each pair
    documents: int
    unhandled: Mapping[str, str]  # documents the model could not handle, and why
    encoding_seconds: float
    scoring_seconds: float  # of all queries
    device: str
    words: Mapping[str, int] = field(default_factory=dict)  # the length of each query
    trained: int | None = None  # the seed of its training; None for an untrained model
    study: Mapping[str, Any] | None = None  # the study's name, the setting it varies and this model's value
    made: Mapping[str, Any] = field(default_factory=dict)  # provenance: command, code, machine and weights

    @property
    def group(self) -> tuple[str, str, int | None, int | None]:
        """Runs of one group are evaluated on the same labels."""
        return self.data, self.split, self.limit, self.seed if self.limit else None

    def save(self, folder: Path) -> None:
        """Write the run atomically."""
        path = run_path(folder, self.data, self.model, self.split, self.limit, self.trained)
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_suffix(f".{os.getpid()}.part")
        answers = {
            query: [result.ranks.tolist(), result.grades.tolist(), result.ideal.tolist(), result.ranked]
            for query, result in self.answers.items()
        }
        verdicts: dict[str, Any] | None = None
        if found := self.verdicts:
            labels, scores = found.labels.astype(int).tolist(), map(_finite, found.scores.tolist())
            verdicts = {"labels": labels, "scores": list(scores), "threshold": _finite(found.threshold)}
        plain = {name: value for name, value in vars(self).items() if name not in ("answers", "verdicts")}
        content = {**plain, "answers": answers, "verdicts": verdicts}
        part.write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")
        part.replace(path)

    @staticmethod
    def load(path: Path) -> "ModelRun":
        """Read a run back."""
        stored = json.loads(path.read_text(encoding="utf-8"))
        answers = {}
        for query, (*arrays, ranked) in stored["answers"].items():
            ranks, grades, ideal = (np.array(numbers, dtype=np.int64) for numbers in arrays)
            answers[query] = QueryResult(ranks, grades, ideal, ranked)
        verdicts = None
        if found := stored["verdicts"]:
            scores = np.array([-np.inf if score is None else score for score in found["scores"]], dtype=np.float64)
            verdicts = PairPredictions(np.array(found["labels"], dtype=bool), scores, found["threshold"])
        return ModelRun(**stored | {"sources": tuple(stored["sources"]), "answers": answers, "verdicts": verdicts})


def _finite(number: float | None) -> float | None:
    return number if number is not None and math.isfinite(number) else None


def run_path(folder: Path, data: str, model: str, split: str, limit: int | None, trained: int | None = None) -> Path:
    """The path of a run: runs/peps.test.tfidf.json; of a trained model: runs/acl.test.colde.seed1.json."""
    part = split if limit is None else f"{split}-{limit}"
    seed = "" if trained is None else f".seed{trained}"
    data, model = (re.sub(r"[^\w@+-]+", "_", name) for name in (data, model))
    return folder / "runs" / f"{data}.{part}.{model}{seed}.json"


def load_runs(folder: Path) -> list[ModelRun]:
    """All finished runs, by set and split."""
    return [ModelRun.load(path) for path in sorted((folder / "runs").glob("*.json"))]


class ShowProgress(Protocol):
    """Opens a progress display for `total` steps; the context yields a callback for the steps done."""

    def __call__(self, what: str, total: int | None) -> AbstractContextManager[Progress]:
        """Open it."""


@dataclass(frozen=True)
class EvaluationSetup:
    """A data set and the conditions under which every model is evaluated on it."""

    corpus: Corpus
    split: Split
    protocols: ActiveProtocols
    limit: int | None
    seed: int
    reranking: Reranking = field(default_factory=Reranking)  # for models that read both documents together

    def facts(self, scorer: Scorer) -> dict[str, Any]:
        """Everything a model's results depend on."""
        labels, folder = hashlib.sha256(), self.corpus.folder
        for name in folder.label_files:
            path = folder.path / name
            labels.update(name.encode() + (path.read_bytes() if path.is_file() else b""))
        return {
            "documents": self.corpus.fingerprint,
            "labels": labels.hexdigest()[:16],
            "layers": [layer.key for layer in scorer.layers],
            "model": dict(scorer.facts),
            "code": code_digest(*scorer.code, "lab/evaluation/scoring", "lab/evaluation/protocols.py"),
            **asdict(self.protocols),
            "seed": self.seed if self.limit else None,
            **({"judge": dict(scorer.matcher.settings)} if isinstance(scorer.matcher, LlmMatcher) else {}),
        }


def run_model(
    setup: EvaluationSetup, spec: ModelSpec, matcher: Matcher, out: Path, command: str, show_progress: ShowProgress
) -> None:
    """Score one model and save the run under `out`, unless an up-to-date one exists."""
    import torch

    corpus, name = setup.corpus, spec.name(setup.corpus.name)
    scorer = scorer_of(matcher, setup.reranking if setup.protocols.ranking else Reranking(0))
    if isinstance(scorer, PairScorer):
        name = f"{name} {scorer.reranking.label}".rstrip()
    facts = setup.facts(scorer)
    path = run_path(out, corpus.name, name, setup.split, setup.limit, spec.seed)
    protocols = setup.protocols
    if path.exists():  # up to date if it depends on the same facts and covers every protocol needed
        known = ModelRun.load(path).facts
        covered = all(known.get(protocol) for protocol in PROTOCOL_FACTS if facts[protocol])
        keys = {*known, *facts} - {*PROTOCOL_FACTS}
        if covered and all(known.get(key) == facts.get(key) for key in keys):
            return
    task = EvaluationTask.of(corpus, setup.split, protocols.ranking, protocols.pairs, setup.limit, setup.seed)
    with show_progress(f"{corpus.name}: encoding for {name}", len(corpus)) as progress:
        store = LayerStore.of(out / "encodings", corpus.source)
        stored = store.build(scorer.layers, progress)
        scorer.open(stored, corpus)
    started = time.perf_counter()
    with show_progress(f"{corpus.name}: scoring with {name}", task.steps(corpus, scorer)) as progress:
        outcome = score_task(task, corpus, scorer, progress)
    seconds = time.perf_counter() - started
    sources = tuple(pair.source for pair in task.pairs)
    ModelRun(
        data=corpus.name,
        model=name,
        split=setup.split,
        seed=setup.seed,
        limit=setup.limit,
        facts=facts,
        answers=outcome.answers,
        verdicts=outcome.predictions(task) if sources else None,
        sources=sources,
        documents=len(corpus),
        unhandled={corpus.ids[number]: why for number, why in sorted(scorer.unhandled.items())},
        encoding_seconds=scorer.encoding_seconds or store.seconds(scorer.layers),
        scoring_seconds=seconds,
        device=str(torch.cuda.get_device_name()) if torch.cuda.is_available() else "CPU",
        words=corpus.words([*outcome.answers, *sources]),
        trained=spec.seed,
        study=asdict(spec.study) if spec.study else None,
        made=provenance(command, matcher) | ({"asked": line} if (line := matcher.report()) else {}),
    ).save(out)
