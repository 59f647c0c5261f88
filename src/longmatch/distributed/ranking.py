"""Many questions at once on a Ray cluster: every worker opens the library and answers some of them."""

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

TOGETHER = 16  # questions a worker takes at a time


@dataclass(frozen=True)
class Asked:
    """What is asked about every document."""

    k: int = 10
    where: str | None = None
    by: By = "default"


class Asker:
    """An actor that answers; nothing is loaded before `ready`, so that what goes wrong there is said as it is."""

    def __init__(self, address: str, make: Make, threads: int, asked: Asked) -> None:
        self._address, self._make, self._threads, self._asked = address, make, threads, asked

    def ready(self) -> None:
        """Open the library and the model."""
        from longmatch.encoders.threads import limit_threads
        from longmatch.library.library import Library

        limit_threads(self._threads)
        self._library = Library(self._address, self._make(), create=False)

    def answer(self, queries: Sequence[Document]) -> list[list[Hit]]:
        """The best for each query."""
        asked = self._asked
        return [hits for _, hits in self._library.rank_many(queries, asked.k, asked.where, asked.by)]


def rank_on_ray(
    address: str, queries: Iterable[Document], asked: Asked, way: OnRay
) -> Iterator[tuple[Document, list[Hit]]]:
    """Each query with the documents that belong most with it, in the order of the queries."""
    with connected(way.address) as ray:
        share = way.share.among(ray.nodes())
        actor = ray.remote(**share.resources)(Asker)
        crew: Crew[tuple[int, list[Document]]] = Crew(
            ray,
            share.workers,
            lambda: actor.remote(whole(address), way.make, share.threads, asked),
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
