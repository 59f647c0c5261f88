"""Lists of candidates that hold what a test needs, and nothing else."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from longmatch.lab.default.features import DEPTH
from longmatch.lab.reranking.candidates import EVIDENCE, CandidateLists
from longmatch.lab.reranking.passages import CLOSEST

WORDS = EVIDENCE.index("words")


def made_lists(documents: Mapping[int, Sequence[int]], grades: Mapping[int, Mapping[int, int]]) -> CandidateLists:
    """The documents of each query, best first, and its answers; scores fall by 1 a place, and evidence is 0."""
    counts = [len(listed) for listed in documents.values()]
    flat = np.concatenate([np.asarray(listed, dtype=np.int64) for listed in documents.values()])
    wanted = [(sorted(grades[query].values(), reverse=True) + [0] * DEPTH)[:DEPTH] for query in documents]
    return CandidateLists(
        queries=np.array(list(documents)),
        offsets=np.concatenate([[0], np.cumsum(counts)]),
        documents=flat,
        grades=np.array([grades[query].get(int(d), 0) for query, listed in documents.items() for d in listed]),
        scores=np.concatenate([-np.arange(count) for count in counts]).astype(np.float32),
        evidence=np.zeros((len(flat), len(EVIDENCE)), dtype=np.float32),
        closest=np.full((len(flat), 2, CLOSEST), -1, dtype=np.int32),
        wanted=np.array(wanted),
    )


def drawn(deciding: str, queries: int = 40, documents: int = 30, seed: int = 0) -> CandidateLists:
    """Random evidence: the default orders by words alone, and one kind tells the two answers of a query."""
    rng = np.random.default_rng(seed)
    values = np.log(rng.random((queries, documents, len(EVIDENCE))) + 0.01).astype(np.float32)
    by_words = np.argsort(-values[..., WORDS], axis=1)
    values = np.take_along_axis(values, by_words[..., None], axis=1)
    best = np.argsort(-values[..., EVIDENCE.index(deciding)], axis=1)[:, :2] + queries
    lists = made_lists(
        {query: range(queries, queries + documents) for query in range(queries)},
        {query: dict.fromkeys(best[query].tolist(), 1) for query in range(queries)},
    )
    return replace(lists, evidence=values.reshape(-1, len(EVIDENCE)), scores=values[..., WORDS].ravel())
