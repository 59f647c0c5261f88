"""Many queries at once on a Ray cluster: every worker opens the library and ranks for some of them."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from longmatch.distributed.cluster import connected, whole
from longmatch.distributed.crew import Crew
from longmatch.distributed.encoding import Make
from longmatch.distributed.on_ray import OnRay
from longmatch.documents.document import Document
from longmatch.library.library import By
from longmatch.matching.matcher import Hit

TOGETHER = 16  # queries a worker takes at a time


@dataclass(frozen=True)
class RankOptions:
    """How every query is ranked."""

    k: int = 10
    where: str | None = None
    by: By = "default"


class RankWorker:
    """An actor that ranks; nothing is loaded before `ready`, so that its errors are reported as they are."""

    def __init__(self, address: str, make: Make, threads: int, options: RankOptions) -> None:
        self._address, self._make, self._threads, self._options = address, make, threads, options

    def ready(self) -> None:
        """Open the library and the model."""
        from longmatch.encoders.threads import limit_threads
        from longmatch.library.library import Library

        limit_threads(self._threads)
        self._library = Library(self._address, self._make(), create=False)

    def answer(self, queries: Sequence[Document]) -> list[list[Hit]]:
        """The best for each query."""
        options = self._options
        return [hits for _, hits in self._library.rank_many(queries, options.k, options.where, options.by)]


def rank_on_ray(
    address: str, queries: Iterable[Document], options: RankOptions, way: OnRay
) -> Iterator[tuple[Document, list[Hit]]]:
    """Each query with the documents that belong most with it, in the order of the queries."""
    with connected(way.address) as ray:
        share = way.share.among(ray.nodes())
        actor = ray.remote(**share.resources)(RankWorker)
        crew: Crew[tuple[int, list[Document]]] = Crew(
            ray,
            share.workers,
            lambda: actor.remote(whole(address), way.make, share.threads, options),
            lambda worker, job: worker.answer.remote(job[1]),
        )
        early: dict[int, list[tuple[Document, list[Hit]]]] = {}
        turn = 0
        with crew:
            for (number, some), answers in crew.work(_numbered(queries)):
                early[number] = list(zip(some, answers, strict=True))
                while turn in early:
                    yield from early.pop(turn)
                    turn += 1


def _numbered(queries: Iterable[Document]) -> Iterator[tuple[int, list[Document]]]:
    left, number = iter(queries), 0
    while some := list(islice(left, TOGETHER)):
        yield number, some
        number += 1
