"""Ranking for many queries on a Ray cluster: every worker opens the library and takes some of them."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from longmatch.distributed.cluster import WorkerPool, absolute_address, connected
from longmatch.distributed.indexing import MakeMatcher, RayBackend
from longmatch.documents.document import Document
from longmatch.library.library import By
from longmatch.matching.hits import Hits


@dataclass(frozen=True)
class RankOptions:
    """Options of `Library.rank_many`, for every query."""

    k: int = 10
    where: str | None = None
    by: By = "default"
    batch: int = 16  # queries per job


class RankWorker:
    """A Ray actor. Nothing is loaded before `ready`, so that its errors reach the user as they are."""

    def __init__(self, address: str, make_matcher: MakeMatcher | None, threads: int, options: RankOptions) -> None:
        self._address, self._make_matcher, self._threads, self._options = address, make_matcher, threads, options

    def ready(self) -> None:
        """Load the model and open the library."""
        from longmatch.encoders.hardware import limit_threads
        from longmatch.library.library import Library

        limit_threads(self._threads)
        made = self._make_matcher() if self._make_matcher else None
        self._library = Library(self._address, made, create=False)

    def rank(self, queries: Sequence[Document]) -> list[Hits]:
        """The best matches of each query."""
        options = self._options
        return [hits for _, hits in self._library.rank_many(queries, options.k, options.where, options.by)]


def rank_on_ray(
    address: str, queries: Iterable[Document], options: RankOptions, backend: RayBackend
) -> Iterator[tuple[Document, Hits]]:
    """Each query with its best matches in the library at `address`, in the order of the queries."""
    with connected(backend.address) as ray:
        allocation = backend.resources.allocate(ray.nodes())
        actor = ray.remote(**allocation.options)(RankWorker)
        pool: WorkerPool[tuple[int, list[Document]]] = WorkerPool(
            ray,
            allocation.workers,
            lambda: actor.remote(absolute_address(address), backend.make_matcher, allocation.threads, options),
            lambda worker, job: worker.rank.remote(job[1]),
        )
        finished: dict[int, list[tuple[Document, Hits]]] = {}
        upcoming, remaining = 0, iter(queries)
        batches = iter(lambda: list(islice(remaining, options.batch)), [])
        with pool:
            for (number, batch), hits in pool.work(enumerate(batches)):
                finished[number] = list(zip(batch, hits, strict=True))
                while upcoming in finished:
                    yield from finished.pop(upcoming)
                    upcoming += 1
