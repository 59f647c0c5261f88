"""Evaluate one model on one data set: encode and score, and save the run."""

import hashlib
import time
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Protocol

from longmatch.lab.datasets.collection import DataFolder
from longmatch.lab.datasets.records import Split
from longmatch.lab.evaluation.corpus import Corpus
from longmatch.lab.evaluation.model_spec import ModelSpec
from longmatch.lab.evaluation.protocols import ActiveProtocols, EvaluationTask, score_task
from longmatch.lab.evaluation.provenance import provenance
from longmatch.lab.evaluation.runs import ModelRun, pair_results, run_path
from longmatch.lab.evaluation.scoring.choose import scorer_of
from longmatch.lab.evaluation.scoring.pairs import PairScorer, Reranking
from longmatch.lab.evaluation.scoring.scorer import Scorer
from longmatch.lab.store.digests import code_digest
from longmatch.lab.store.store import LayerStore
from longmatch.matching.matcher import Matcher, Progress
from longmatch.models.llm.matcher import LlmMatcher

PROTOCOL_FACTS = ("ranking", "pairs")  # a run of both protocols also serves where one is needed


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
        return {
            "documents": self.corpus.fingerprint,
            "labels": _labels_digest(self.corpus.folder),
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
    corpus, name = setup.corpus, spec.name(setup.corpus.name)
    scorer = scorer_of(matcher, setup.reranking if setup.protocols.ranking else Reranking(0))
    if isinstance(scorer, PairScorer):
        name = f"{name} {scorer.reranking.label}".rstrip()
    facts = setup.facts(scorer)
    path = run_path(out, corpus.name, name, setup.split, setup.limit, spec.seed)
    if path.exists() and _is_current(ModelRun.load(path).facts, facts):
        return
    protocols = setup.protocols
    task = EvaluationTask.of(corpus, setup.split, protocols.ranking, protocols.pairs, setup.limit, setup.seed)
    with show_progress(f"{corpus.name}: encoding for {name}", len(corpus)) as progress:
        store = LayerStore.of(out / "encodings", corpus.source)
        stored = store.build(scorer.layers, progress)
        scorer.open(stored, corpus)
    started = time.perf_counter()
    with show_progress(f"{corpus.name}: scoring with {name}", task.steps(corpus, scorer)) as progress:
        outcome = score_task(task, corpus, scorer, progress)
    seconds = time.perf_counter() - started
    verdicts, sources = pair_results(outcome, task)
    ModelRun(
        data=corpus.name,
        model=name,
        split=setup.split,
        seed=setup.seed,
        limit=setup.limit,
        facts=facts,
        answers=outcome.answers,
        verdicts=verdicts,
        sources=sources,
        documents=len(corpus),
        unhandled={corpus.ids[number]: why for number, why in sorted(scorer.unhandled.items())},
        encoding_seconds=scorer.encoding_seconds or store.seconds(scorer.layers),
        scoring_seconds=seconds,
        device=_device(),
        words=corpus.words([*outcome.answers, *sources]),
        trained=spec.seed,
        study=asdict(spec.study) if spec.study else None,
        made=provenance(command, matcher) | ({"asked": line} if (line := matcher.report()) else {}),
    ).save(out)


def _is_current(stored: Mapping[str, Any], needed: Mapping[str, Any]) -> bool:
    """Whether a stored run depends on the same facts and covers every protocol needed."""
    if any(needed[protocol] and not stored.get(protocol) for protocol in PROTOCOL_FACTS):
        return False
    keys = {*stored, *needed} - {*PROTOCOL_FACTS}
    return all(stored.get(key) == needed.get(key) for key in keys)


def _labels_digest(folder: DataFolder) -> str:
    digest = hashlib.sha256()
    for name in folder.label_files:
        path = folder.path / name
        digest.update(name.encode() + (path.read_bytes() if path.is_file() else b""))
    return digest.hexdigest()[:16]


def _device() -> str:
    import torch

    return str(torch.cuda.get_device_name()) if torch.cuda.is_available() else "CPU"
