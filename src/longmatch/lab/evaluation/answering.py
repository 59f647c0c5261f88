"""One model on one set: encode and score what is missing, and keep what it answered."""

import hashlib
import time
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Protocol

from longmatch.lab.datasets.collection import DataFolder
from longmatch.lab.datasets.records import Split
from longmatch.lab.evaluation.corpus import Corpus
from longmatch.lab.evaluation.entrants import Entrant
from longmatch.lab.evaluation.protocols import Task, Wanted, run
from longmatch.lab.evaluation.provenance import made
from longmatch.lab.evaluation.runs import Run, run_path, verdicts_of
from longmatch.lab.evaluation.scoring.choose import scorer_of
from longmatch.lab.evaluation.scoring.scorer import Scorer
from longmatch.lab.store.digests import code_digest
from longmatch.lab.store.store import LayerStore
from longmatch.matching.matcher import Matcher, Progress
from longmatch.matching.reranking import DEPTH

ASKED = ("ranking", "pairs")  # of the facts: a run that answered more than is asked for will do


class Watch(Protocol):
    """Shows how far a piece of work is."""

    def __call__(self, what: str, total: int | None) -> AbstractContextManager[Progress]:
        """Begin to show it."""


@dataclass(frozen=True)
class Question:
    """What is asked of every model on a set."""

    corpus: Corpus
    split: Split
    wanted: Wanted
    limit: int | None
    seed: int
    depth: int = DEPTH  # of re-ranking, for models that read two documents together

    def facts(self, scorer: Scorer) -> dict[str, Any]:
        """All that a model's answers depend on."""
        return {
            "documents": self.corpus.fingerprint,
            "labels": _labels_digest(self.corpus.folder),
            "layers": [layer.key for layer in scorer.layers],
            "model": dict(scorer.facts),
            "code": code_digest(*scorer.code, "lab/evaluation/scoring", "lab/evaluation/protocols.py"),
            **asdict(self.wanted),
            "seed": self.seed if self.limit else None,
        }


def answer(question: Question, entrant: Entrant, matcher: Matcher, out: Path, command: str, watch: Watch) -> None:
    """Score one model on one set and save the run, unless that is done."""
    corpus, name = question.corpus, entrant.name(question.corpus.name)
    scorer = scorer_of(matcher, question.depth)
    facts = question.facts(scorer)
    path = run_path(out, corpus.name, name, question.split, question.limit, entrant.seed)
    if path.exists() and _suffices(Run.load(path).facts, facts):
        return
    task = Task.of(
        corpus, question.split, question.wanted.ranking, question.wanted.pairs, question.limit, question.seed
    )
    with watch(f"{corpus.name}: encoding for {name}", len(corpus)) as progress:
        store = LayerStore.of(out / "encodings", corpus.source)
        stored = store.build(scorer.layers, progress)
        scorer.open(stored, corpus)
    started = time.perf_counter()
    with watch(f"{corpus.name}: scoring with {name}", task.steps(corpus, scorer)) as progress:
        outcome = run(task, corpus, scorer, progress)
    seconds = time.perf_counter() - started
    verdicts, sources = verdicts_of(outcome, task)
    Run(
        data=corpus.name,
        model=name,
        split=question.split,
        seed=question.seed,
        limit=question.limit,
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
        trained=entrant.seed,
        study=asdict(entrant.study) if entrant.study else None,
        made=made(command, matcher),
    ).save(out)


def _suffices(had: Mapping[str, Any], needed: Mapping[str, Any]) -> bool:
    """Whether the answers at hand depend on the same, and are of every kind asked for."""
    if any(needed[kind] and not had.get(kind) for kind in ASKED):
        return False
    return {key: had.get(key) for key in {*had, *needed} - {*ASKED}} == {
        key: needed.get(key) for key in {*had, *needed} - {*ASKED}
    }


def _labels_digest(folder: DataFolder) -> str:
    digest = hashlib.sha256()
    for name in ("qrels.tsv", "pairs.tsv", "candidates.tsv", "pools.tsv"):
        path = folder.path / name
        digest.update(name.encode() + (path.read_bytes() if path.is_file() else b""))
    return digest.hexdigest()[:16]


def _device() -> str:
    import torch

    return str(torch.cuda.get_device_name()) if torch.cuda.is_available() else "CPU"
