"""The map of a library, worked out once for each state of it."""

import threading
from hashlib import blake2b

import numpy as np

from longmatch.library.library import Library
from longmatch.web.catalogue import Catalogue
from longmatch.web.mapping.clusters import Floats, Ints, cluster
from longmatch.web.mapping.layout import layout
from longmatch.web.mapping.words import weightiest
from longmatch.web.schema import Cluster, Map, Point

MOST = 5_000  # documents on the map; of more, a fixed sample
EXAMPLES = 12  # documents of a cluster that its words are taken from


class Chart:
    """Draws the map when it is first asked for, and keeps it."""

    def __init__(self, library: Library, catalogue: Catalogue) -> None:
        self._library, self._catalogue = library, catalogue
        self._lock = threading.Lock()
        self._kept: tuple[int, Map] | None = None

    def kept(self) -> Map | None:
        """The map, if it is there and right."""
        kept = self._kept
        return kept[1] if kept and kept[0] == self._library.version else None

    def draw(self, version: int, ids: list[str], vectors: Floats) -> Map:
        """The map of these documents, each with its vector; only one is drawn at a time."""
        with self._lock:
            if self._kept is None or self._kept[0] != version:
                self._kept = version, self._drawn(ids, vectors)
            return self._kept[1]

    def _drawn(self, ids: list[str], vectors: Floats) -> Map:
        total = len(ids)
        chosen = _sample(ids)
        ids, vectors = [ids[i] for i in chosen], vectors[chosen]
        places = layout(vectors)
        labels = cluster(vectors, places)
        titles = {id: row.title for id, row in self._catalogue.rows().items()}
        points = [
            Point(id=id, title=titles.get(id, id), x=round(float(x), 4), y=round(float(y), 4), cluster=int(label))
            for id, (x, y), label in zip(ids, places, labels, strict=True)
        ]
        return Map(total=total, points=points, clusters=self._clusters(ids, vectors, labels))

    def _clusters(self, ids: list[str], vectors: Floats, labels: Ints) -> list[Cluster]:
        numbers = range(int(labels.max(initial=-1)) + 1)
        examples = [[ids[i] for i in _nearest(vectors, np.flatnonzero(labels == n))] for n in numbers]
        known = self._catalogue.rows()
        documents = [[self._library.show(id) for id in some if id in known] for some in examples]
        words = weightiest(documents, self._library.statistics.terms.words)
        return [Cluster(number=n, words=words[n], size=int((labels == n).sum())) for n in numbers]


def _sample(ids: list[str]) -> Ints:
    """The places of the documents on the map, sorted by id: all, or those whose hashed ids are smallest."""
    places = sorted(range(len(ids)), key=lambda i: ids[i])
    if len(places) > MOST:
        places = sorted(sorted(places, key=lambda i: _hashed(ids[i]))[:MOST], key=lambda i: ids[i])
    return np.array(places, dtype=np.int64)


def _hashed(id: str) -> bytes:
    return blake2b(id.encode("utf-8", "surrogatepass"), digest_size=8).digest()


def _nearest(vectors: Floats, members: Ints) -> Ints:
    """The members nearest to the middle of their cluster."""
    middle = vectors[members].mean(0)
    return np.asarray(members[np.argsort(-(vectors[members] @ middle), kind="stable")[:EXAMPLES]])
