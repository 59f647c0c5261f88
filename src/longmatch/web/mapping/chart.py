"""The map of a library, worked out once for each state of it, and what each cluster of it is about."""

import threading
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b

import numpy as np
import numpy.typing as npt

from longmatch.documents.document import Document
from longmatch.documents.language import COMMON_WORDS
from longmatch.lexical.form import content_words
from longmatch.lexical.terms import Counts, hash_word
from longmatch.lexical.weights import Blend, Frequencies
from longmatch.library.library import Library
from longmatch.web.catalogue import Catalogue
from longmatch.web.mapping.clusters import Floats, Ints, cluster
from longmatch.web.mapping.layout import layout
from longmatch.web.schema import Cluster, Map, Point

MOST = 5_000  # documents on the map; of more, a fixed sample
EXAMPLES = 12  # documents of a cluster that its words are taken from
WORDS = 5  # of a cluster, which its documents use and others do not
READ = 20_000  # characters of a document


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
        known = self._catalogue.rows()
        documents, sizes = [], []
        for number in range(int(labels.max(initial=-1)) + 1):
            members = np.flatnonzero(labels == number)
            likeness = vectors[members] @ vectors[members].mean(0)
            nearest = members[np.argsort(-likeness, kind="stable")[:EXAMPLES]]
            documents.append([self._library.show(ids[i]) for i in nearest if ids[i] in known])
            sizes.append(len(members))
        words = weightiest(documents, self._library.statistics.terms.words)
        return [Cluster(number=n, words=words[n], size=size) for n, size in enumerate(sizes)]


def _sample(ids: list[str]) -> Ints:
    """The places of the documents on the map, sorted by id: all, or those whose hashed ids are smallest."""

    def hashed(place: int) -> bytes:
        return blake2b(ids[place].encode("utf-8", "surrogatepass"), digest_size=8).digest()

    places = sorted(range(len(ids)), key=ids.__getitem__)
    if len(places) > MOST:
        places = sorted(sorted(places, key=hashed)[:MOST], key=ids.__getitem__)
    return np.array(places, dtype=np.int64)


def weightiest(clusters: Sequence[Sequence[Document]], background: Frequencies) -> list[list[str]]:
    """For each cluster, given by some of its documents, the words that tell it from the others, weightiest first."""
    counted = [[Counter(_content_words(document)) for document in documents] for documents in clusters]
    hashed = [Counts.of(_hashes(words)) for documents in counted for words in documents]
    blend = Blend(Frequencies.of(hashed), background)
    shares: list[dict[str, float]] = []  # the mean share that each word has of a cluster's documents
    everywhere: dict[str, float] = defaultdict(float)
    for documents in counted:
        mine: dict[str, float] = defaultdict(float)
        for words in documents:
            for word, count in words.items():
                mine[word] += count / words.total() / len(documents)
        shares.append(mine)
        for word, share in mine.items():
            everywhere[word] += share
    return [_best(documents, mine, blend, everywhere) for documents, mine in zip(counted, shares, strict=True)]


def _best(
    documents: Sequence[Counter[str]], mine: Mapping[str, float], blend: Blend, everywhere: Mapping[str, float]
) -> list[str]:
    """Words that are frequent here, in many documents, rare in general, and rarer in the other clusters."""
    held = Counter(word for words in documents for word in words)
    least = 2 if len(documents) > 1 and any(count > 1 for count in held.values()) else 1
    words = sorted(word for word, count in held.items() if count >= least)
    if not words:
        return []
    shares = np.array([mine[word] * mine[word] / everywhere[word] * held[word] / len(documents) for word in words])
    weights = shares * blend.idf(_hashes(words))
    chosen: list[str] = []
    for place in np.argsort(-weights, kind="stable"):
        word = words[int(place)]
        if len(chosen) < WORDS and not any(word.startswith(c) or c.startswith(word) for c in chosen):  # no plurals
            chosen.append(word)
    return chosen


def _content_words(document: Document) -> list[str]:
    words = content_words(document.readable[:READ])
    says_something = (word for word in words if len(word) > 2 or ord(word[0]) > 0x2FFF)  # two Chinese characters do
    return [word for word in says_something if word.isalpha() and word not in COMMON_WORDS]


def _hashes(words: Iterable[str]) -> npt.NDArray[np.uint64]:
    return np.array([hash_word(word) for word in words], dtype=np.uint64)
