"""The text that documents of a library share: which pairs to look at, and what each of them is."""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from operator import itemgetter

import numpy as np

from longmatch.documents.document import Document
from longmatch.lexical.form import content_words
from longmatch.lexical.terms import Hashes, Ints, hash_runs, hash_word, lookup
from longmatch.library.errors import LibraryError
from longmatch.library.index.index import Index
from longmatch.library.row_cache import RowCache
from longmatch.library.rows import DOCUMENT_COLUMNS, DocumentRow
from longmatch.library.search.candidates import highest
from longmatch.library.search.explain import same_documents
from longmatch.library.search.searcher import Searcher
from longmatch.library.store import Store
from longmatch.ragged import Floats
from longmatch.reuse.reuse import REUSE_SHARE, REUSE_WORDS, Reuse, reuse_of
from longmatch.reuse.words import CJK, PER_WORD, Vocabulary, Words, running_words, shingles

LENGTH = 6  # words of a run, citation marks and the like left out; twice as many characters in Chinese and Japanese
MANY = 8  # documents: what stands in more of them is boilerplate
ENTRIES = 2_000_000  # of the table
COMMON = 0.5  # share of a passage's runs that many documents have, from which the passage is boilerplate
BY_CHARACTER = ("zh", "ja")
COLUMNS = ("id", "language", "vocabulary", "stream", "offsets")
_CHARACTER = re.compile(f"[{CJK}]")
BLOCK = 32  # pairs whose texts are read together
SURVIVING = 0.35  # share of the runs of a passage that small changes leave whole
PHRASE = 3  # words, as the index counts them
ASKED = 40  # words of a passage that full-text search is asked for
LIKELY = 4 * MANY  # documents that are looked at
RARE = 0.25  # share of a passage's phrases that may be rare, for small changes make some
MOST_CHECKED = 1_000  # documents added at once: of more, `pairs` lists the copies
NEAREST, NEAR = 3, 0.9  # documents by vector that may hold the same text, and their least cosine
COMPARED_TOGETHER = 64  # documents compared with all vectors together
LISTED = 10  # sentences
RELATIONS = {"copy": "holds the same text as", "version": "is another version of"}


def least_shared(shorter: Ints) -> Floats:
    """How many runs two documents share at least if one reuses the other, by the words of the shorter.

    >>> least_shared(np.array([100, 4000])).tolist()
    [1.4, 15.4]
    """
    words = np.minimum(REUSE_WORDS, REUSE_SHARE * shorter)
    least: Floats = np.round(np.maximum(1.0, SURVIVING * (words - LENGTH)), 2)
    return least


@dataclass(frozen=True)
class ReadText:
    """A document and its words."""

    document: Document
    words: Words

    @property
    def id(self) -> str:
        """The document's id."""
        return self.document.id

    @property
    def size(self) -> int:
        """Bytes."""
        return 2 * len(self.document.text) + 40 * len(self.words)


class SharedText:
    """Compares the texts of pairs that share enough runs of words."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.table = ShingleTable.of(store)
        self.vocabulary = Vocabulary()
        self._kept: RowCache[ReadText] = RowCache(store.settings.text_bytes)

    def pairs(self, similar: Collection[tuple[str, str]]) -> Iterator[tuple[tuple[str, str], Reuse]]:
        """The pairs that are copies or versions or reuse text, `similar` ones and any others."""
        table = self.table
        likely = set(table.candidates())
        for a, b in similar:  # copies of which there are many share no run that few documents have
            if a in table.number and b in table.number:
                shorter = np.minimum(table.words[[table.number[a]]], table.words[[table.number[b]]])
                if table.shared(a, b) >= least_shared(shorter)[0]:
                    likely.add((a, b))
        chosen = sorted(likely)
        for start in range(0, len(chosen), BLOCK):
            block = chosen[start : start + BLOCK]
            texts = self.texts(sorted({id for pair in block for id in pair}))
            for a, b in block:
                if a in texts and b in texts:  # another process may have removed one
                    first, second = texts[a], texts[b]
                    reuse = reuse_of(first.document, first.words, second.document, second.words, table.is_common)
                    if reuse.relation:
                        yield (a, b), reuse

    def texts(self, ids: Sequence[str]) -> dict[str, ReadText]:
        """Documents with their words, by id."""

        def read(unread: Sequence[str]) -> list[ReadText]:
            documents = (row.document() for row in self.store.fetch(unread, DOCUMENT_COLUMNS))
            return [ReadText(document, running_words(document, self.vocabulary)) for document in documents]

        return {text.id: text for text in self._kept.get(ids, self.store.version, read)}


def runs_of(row: DocumentRow) -> Hashes:
    """The distinct runs of words of a stored document."""
    length = LENGTH * (PER_WORD if row.value("language") in BY_CHARACTER else 1)
    return np.unique(shingles(row.terms().words.ids, length))


def runs_in(text: str) -> Hashes:
    """The distinct runs of words of a text."""
    by_character = 2 * len(_CHARACTER.findall(text)) > len(text)
    ids = np.array([hash_word(word) for word in content_words(text)], dtype=np.uint64)
    return np.unique(shingles(ids, LENGTH * (PER_WORD if by_character else 1)))


@dataclass(frozen=True)
class ShingleTable:
    """The sampled runs of all documents: those of document d are runs[offsets[d]:offsets[d + 1]], sorted."""

    ids: list[str]
    runs: Hashes
    offsets: Ints
    rate: int  # one run in `rate` is in the sample
    words: Ints  # of each document

    @staticmethod
    def of(store: Store, entries: int = ENTRIES) -> "ShingleTable":
        """Read the words of all documents, some at a time."""
        total = int(store.read(["words"])["words"].to_numpy().sum())
        rate = 1
        while total > rate * entries:
            rate *= 2
        rows = (row for batch in store.batches(COLUMNS) for row in batch)
        read = ((row.id, sampled(runs_of(row), rate), len(row.array("stream"))) for row in rows)
        found = sorted(read, key=itemgetter(0))
        parts = [runs for _, runs, _ in found]
        offsets = np.concatenate([[0], np.cumsum([len(part) for part in parts], dtype=np.int64)])
        joined = np.concatenate(parts) if parts else np.empty(0, np.uint64)
        words = np.array([words for *_, words in found], dtype=np.int64)
        return ShingleTable([id for id, *_ in found], joined, offsets.astype(np.int64), rate, words)

    @cached_property
    def number(self) -> dict[str, int]:
        """The number of each document."""
        return {id: number for number, id in enumerate(self.ids)}

    @cached_property
    def _by_run(self) -> tuple[Ints, Hashes, Ints, Ints]:
        """The entries sorted by run, and for each distinct run its hash, its first entry and its documents' count."""
        order = np.argsort(self.runs, kind="stable")
        distinct, first, counts = np.unique(self.runs[order], return_index=True, return_counts=True)
        return order, distinct, first, counts

    @cached_property
    def _common(self) -> Hashes:
        _, distinct, _, counts = self._by_run
        return distinct[counts > MANY]

    def is_common(self, text: str) -> bool:
        """Whether a passage stands in many documents."""
        runs = sampled(runs_in(text), self.rate)
        return len(runs) > 0 and float(lookup(self._common, runs)[1].mean()) >= COMMON

    def shared(self, a: str, b: str) -> int:
        """About how many runs two documents share, boilerplate too."""
        own, other = (self.runs[self.offsets[n] : self.offsets[n + 1]] for n in (self.number[a], self.number[b]))
        return len(np.intersect1d(own, other, assume_unique=True)) * self.rate

    def candidates(self) -> dict[tuple[str, str], int]:
        """The pairs of documents that share enough runs which few documents have, with about how many they share."""
        order, _, first, counts = self._by_run
        document = np.repeat(np.arange(len(self.ids)), np.diff(self.offsets))[order]
        keys, counted = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
        for size in range(2, MANY + 1):
            starts = first[counts == size]
            members = document[starts[:, None] + np.arange(size)]  # (runs, size), ascending: sorting was stable
            pairs = [members[:, i] * len(self.ids) + members[:, j] for i, j in combinations(range(size), 2)]
            distinct, count = np.unique(np.concatenate(pairs), return_counts=True)
            keys.append(distinct)
            counted.append(count)
        found, place = np.unique(np.concatenate(keys), return_inverse=True)
        shared = self.rate * np.bincount(place, np.concatenate(counted), len(found)).astype(np.int64)
        a, b = np.divmod(found, max(1, len(self.ids)))
        enough = shared >= least_shared(np.minimum(self.words[a], self.words[b]))
        kept = zip(a[enough].tolist(), b[enough].tolist(), shared[enough].tolist(), strict=True)
        return {(self.ids[i], self.ids[j]): count for i, j, count in kept}


def sampled(runs: Hashes, rate: int) -> Hashes:
    """The runs in the sample; `rate` is a power of two."""
    return runs if rate == 1 else runs[(runs >> np.uint64(7)) % np.uint64(rate) == 0]


@dataclass(frozen=True)
class CommonPassages:
    """First by the document frequencies of its phrases, then by the documents that full-text search finds."""

    store: Store
    index: Index

    def __call__(self, text: str) -> bool:
        """Whether more than MANY documents hold most of a passage."""
        words = content_words(text)
        ids = np.array([hash_word(word) for word in words], dtype=np.uint64)
        starts = np.arange(max(0, len(ids) - PHRASE + 1))
        if not len(starts):
            return False
        documents = self.index.rarity.phrases.collection(np.unique(hash_runs(ids, starts, PHRASE)))
        if np.quantile(documents, RARE) <= MANY:  # a passage stands in no more documents than its phrases do
            return False
        try:
            likely = self.store.find(" ".join(words[:ASKED]), LIKELY)
        except LibraryError:  # a library without a full-text index
            return False
        runs = runs_in(text)
        rows = self.store.fetch(likely, COLUMNS) if len(runs) else ()
        held = [np.isin(runs, runs_of(row), assume_unique=True).mean() for row in rows]
        return sum(1 for share in held if share >= COMMON) > MANY


def same_text_remarks(searcher: Searcher, added: Sequence[str]) -> list[str]:
    """Sentences on the documents added whose text another document of the library holds, or a version of it."""
    if len(added) > MOST_CHECKED:
        return []
    index, ids = searcher.index, searcher.scope().ids
    place = {id: number for number, id in enumerate(ids)}
    known = [id for id in added if id in place]  # another process may have removed some
    means = index.live_column("means") if known else np.zeros((0, 0))
    reported: dict[frozenset[str], str] = {}
    for start in range(0, len(known), COMPARED_TOGETHER):
        block = known[start : start + COMPARED_TOGETHER]
        cosines = means @ means[[place[id] for id in block]].T  # (documents, block)
        for id, column in zip(block, cosines.T, strict=True):
            column[place[id]] = -1.0
            nearest = sorted((-round(float(column[i]), 6), ids[i]) for i in highest(column, NEAREST, ids.__getitem__))
            near = [other for distance, other in nearest if -distance >= NEAR]
            encodings = {encoding.document.id: encoding for encoding in searcher.encodings([id, *near] if near else [])}
            if id in encodings:
                candidates = [encodings[other] for other in near if other in encodings]
                same = sorted(same_documents(encodings[id], candidates), key=lambda one: one.relation)
                for best in same[:1]:  # the nearest, a copy rather than a version
                    sentence = f"{id} {RELATIONS[best.relation]} {best.id}."
                    reported.setdefault(frozenset((id, best.id)), sentence)
    sentences = list(reported.values())
    more = len(sentences) - LISTED
    others = f"{more:,} more {'is' if more == 1 else 'are'} in the library twice; longmatch pairs lists them."
    return sentences[:LISTED] + ([others] if more > 0 else [])
