"""One file a set: its rows, and its runs without what no measure needs, compressed.

Of rankings the ranks of the relevant documents are kept, of pairs which are predicted to match: all measures of
rankings, accuracy, precision, recall and F1, and their tests, come out the same. The order of the pairs, by which
average precision and AUC are tested, takes more room than all else: some models keep it, the others the two measures.
"""

import io
import json
import lzma
import math
from bisect import bisect_left
from collections.abc import Container, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from longmatch.lab.evaluation.measures import AveragePrecision, Ints, PairPredictions, QueryResult, RocAuc
from longmatch.lab.evaluation.runs import ModelRun

DIGITS = 6  # of numbers
KEPT = ("model", "trained", "seed", "documents", "unhandled", "encoding_seconds", "scoring_seconds", "device", "study")
COLUMNS = ("found", "ranked", "ranks", "grades")  # of rankings: of relevant documents, how many were found, and where
BLOCK = 256  # numbers of a permutation that are written together
BY_ORDER = AveragePrecision(), RocAuc()  # measures of the order of the pairs
FILTERS = [{"id": lzma.FILTER_LZMA2, "preset": 9, "lc": 0, "lp": 0, "pb": 0}]
Bytes = npt.NDArray[np.uint8]


def labels_of(run: ModelRun) -> dict[str, list[Any]]:
    """The labels a run was evaluated on: the grades of each query's relevant documents, each pair's source and label.

    Queries and sources are numbered in the order of their ids; the ids themselves are not needed.
    """
    names = {name: number for number, name in enumerate(sorted(set(run.sources)))}
    return {
        "wanted": [run.answers[query].ideal.tolist() for query in sorted(run.answers)],
        "sources": [names[name] for name in run.sources],
        "labels": run.verdicts.labels.astype(int).tolist() if run.verdicts else [],
    }


def pack(head: Mapping[str, Any], runs: Sequence[ModelRun], ordered: Container[str]) -> bytes:
    """The file of a set: always the same for the same set. `ordered` names the models whose pairs keep their order."""
    about, orders = [], [np.empty(0, np.uint8)]
    columns = {name: [np.empty(0, np.int64)] for name in COLUMNS}
    bits = {name: [np.empty(0, bool)] for name in ("predicted", "ties")}
    for run in runs:
        facts = {key: rounded(getattr(run, key)) for key in KEPT}
        facts |= {"depth": run.facts.get("model", {}).get("depth"), "queries": len(run.answers)}
        for result in (run.answers[query] for query in sorted(run.answers)):
            columns["found"].append(np.array([len(result.ranks)]))
            columns["ranked"].append(np.array([result.ranked]))
            columns["ranks"].append(np.diff(result.ranks, prepend=0))
            columns["grades"].append(result.grades)
        if verdicts := run.verdicts:
            threshold = verdicts.threshold
            bits["predicted"].append(verdicts.scores >= (np.inf if threshold is None else threshold))
            facts |= {"has_threshold": threshold is not None}
            if run.model in ordered and not verdicts.known:
                order = np.argsort(-verdicts.scores, kind="stable")
                orders.append(_order_bytes(order))
                bits["ties"].append(np.diff(verdicts.scores[order], prepend=np.nan) == 0)
            else:
                facts |= {"known": rounded({measure.name: measure(verdicts) for measure in BY_ORDER})}
        about.append(facts)
    arrays = {name: _planes(np.concatenate(parts)) for name, parts in columns.items()} | {
        "orders": np.concatenate(orders)
    }
    arrays |= {name: np.packbits(np.concatenate(parts)) for name, parts in bits.items()}
    text = json.dumps({**head, "runs": about}, ensure_ascii=False, separators=(",", ":"))
    buffer = io.BytesIO()
    np.savez(buffer, allow_pickle=False, head=np.frombuffer(text.encode(), dtype=np.uint8), **arrays)
    return lzma.compress(buffer.getvalue(), filters=FILTERS)


def unpack(content: bytes, with_answers: bool = True) -> tuple[dict[str, Any], list[ModelRun]]:
    """Read it back; without their answers, which is quick, the runs cannot be compared or stored."""
    arrays = dict(np.load(io.BytesIO(lzma.decompress(content))))
    head = json.loads(arrays.pop("head").tobytes())
    labels = np.array(head["asked"]["labels"], dtype=bool)
    sources = tuple(map(_id, head["asked"]["sources"]))
    columns = {name: _Column(_numbers(arrays[name])) for name in COLUMNS} | {"orders": _Column(arrays["orders"])}
    columns |= {name: _Column(np.unpackbits(arrays[name])) for name in ("predicted", "ties")}
    runs = []
    for facts in head.pop("runs"):
        answers = {}
        for number in range(facts["queries"] if with_answers else 0):
            found, ranked = (int(columns[name].take(1)[0]) for name in ("found", "ranked"))
            ranks, grades = columns["ranks"].take(found).cumsum(), columns["grades"].take(found)
            ideal = np.array(head["asked"]["wanted"][number], dtype=np.int64)
            answers[_id(number)] = QueryResult(ranks, grades, ideal, ranked)
        verdicts = _verdicts(facts, columns, labels) if with_answers and "has_threshold" in facts else None
        runs.append(
            ModelRun(
                **{key: facts[key] for key in KEPT},
                **{key: head[key] for key in ("data", "split", "limit")},
                facts={} if facts["depth"] is None else {"model": {"depth": facts["depth"]}},
                answers=answers,
                verdicts=verdicts,
                sources=sources if verdicts else (),
            )
        )
    return head, runs


def _verdicts(
    facts: Mapping[str, Any], columns: Mapping[str, "_Column"], labels: npt.NDArray[np.bool_]
) -> PairPredictions:
    """The score of a pair is its place by falling score, ties sharing one, from -1 down."""
    predicted = columns["predicted"].take(len(labels)).astype(bool)
    if "known" in facts:
        places, last = 2 - predicted.astype(np.int64), 1
    else:
        order = _order(columns["orders"], len(labels))
        places = np.empty(len(labels), dtype=np.int64)
        places[order] = (columns["ties"].take(len(labels)) == 0).cumsum()
        last = int(places[predicted].max(initial=0))
    threshold = -float(last) if facts["has_threshold"] else None
    return PairPredictions(labels, -places.astype(np.float64), threshold, facts.get("known", {}))


class _Column:
    """Numbers that are taken from the first to the last."""

    def __init__(self, numbers: npt.NDArray[Any]) -> None:
        self.numbers, self.at = numbers, 0

    def take(self, count: int) -> npt.NDArray[Any]:
        self.at += count
        return self.numbers[self.at - count : self.at]


def _order_bytes(order: Ints) -> Bytes:
    """A permutation, in no more bytes than it takes: of each number how many smaller ones follow, in mixed radix."""
    left, parts = list(range(len(order))), []
    for start in range(0, len(order), BLOCK):
        value, size = 0, _size(len(left))
        for number in order[start : start + BLOCK].tolist():
            place = bisect_left(left, number)
            value = value * len(left) + place
            del left[place]
        parts.append(value.to_bytes(size))
    return np.frombuffer(b"".join(parts), dtype=np.uint8)


def _order(taken: "_Column", count: int) -> Ints:
    """The permutation that was written so.

    >>> _order(_Column(_order_bytes(np.array([2, 0, 3, 1]))), 4)
    array([2, 0, 3, 1])
    """
    left, order = list(range(count)), []
    while left:
        value, places = int.from_bytes(taken.take(_size(len(left))).tobytes()), []
        for following in range(max(1, len(left) - BLOCK + 1), len(left) + 1):
            value, place = divmod(value, following)
            places.append(place)
        order += [left.pop(place) for place in reversed(places)]
    return np.array(order, dtype=np.int64)


@cache
def _size(left: int) -> int:
    """Bytes for the next block of a permutation of which so many numbers are left."""
    return ((math.perm(left, min(BLOCK, left)) - 1).bit_length() + 7) // 8


def _planes(numbers: Ints) -> Bytes:
    """High bytes, then low ones: each of a kind compresses best with its own."""
    return np.concatenate([numbers >> 8, numbers & 255]).astype(np.uint8)


def _numbers(planes: Bytes) -> Ints:
    high, low = planes.astype(np.int64).reshape(2, -1)
    return high << 8 | low


def _id(number: int) -> str:
    """An id for a number, with the same order."""
    return f"{number:06d}"


def rounded(value: Any) -> Any:
    """The value with its numbers rounded."""
    if isinstance(value, float):
        return round(value, DIGITS)
    if isinstance(value, Mapping):
        return {key: rounded(item) for key, item in value.items()}
    return [rounded(item) for item in value] if isinstance(value, list | tuple) else value
