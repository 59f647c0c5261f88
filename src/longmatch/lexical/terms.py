"""A document's words and phrases as 64-bit hashes, sentence by sentence.

Hashing makes terms of different collections, and of a document alone, comparable without a shared vocabulary.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from hashlib import blake2b
from itertools import chain, pairwise
from typing import Literal, TypeVar, get_args

import numpy as np
import numpy.typing as npt

from longmatch.documents.document import Document
from longmatch.lexical.form import title_words, words_of_each
from longmatch.ragged import offsets_of, ranges

Hashes = npt.NDArray[np.uint64]
Ints = npt.NDArray[np.int64]
N = TypeVar("N", bound=np.generic)
Flags = npt.NDArray[np.bool_]

Kind = Literal["words", "phrases"]
KINDS: tuple[Kind, ...] = get_args(Kind)
PHRASE_LENGTHS = (2, 3)
HALF = np.uint64(32)  # bits
_MIX = np.uint64(0x9E3779B97F4A7C15)  # odd, so that multiplying by it loses nothing
Keys = npt.NDArray[np.unsignedinteger]

BITS = (10, 20)  # of the slots' numbers, at least and at most
SPARSE = 32  # slots for each term, so that hardly any other term falls into a taken one


@lru_cache(maxsize=1 << 20)
def hash_word(word: str) -> int:
    """The same 64 bits for a word on every machine."""
    return int.from_bytes(blake2b(word.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")


def lookup(sorted_ids: npt.NDArray[N], wanted: npt.NDArray[N]) -> tuple[Ints, Flags]:
    """The position of each wanted term among sorted ids, and whether it is there; else the position is meaningless.

    >>> position, present = lookup(np.array([2, 5, 9], np.uint64), np.array([5, 6], np.uint64))
    >>> position[present], present
    (array([1]), array([ True, False]))
    """
    if not len(sorted_ids):
        return np.zeros(len(wanted), dtype=np.int64), np.zeros(len(wanted), dtype=bool)
    position = np.minimum(np.searchsorted(sorted_ids, wanted), len(sorted_ids) - 1)
    return position, sorted_ids[position] == wanted


@dataclass(frozen=True)
class Counts:
    """How often each term occurs: distinct hashes, sorted, and their counts."""

    ids: Hashes
    counts: Ints

    @staticmethod
    def of(terms: Hashes) -> "Counts":
        """Count a stream of terms."""
        ids, counts = np.unique(terms, return_counts=True)
        return Counts(ids, counts.astype(np.int64))


@lru_cache(maxsize=1 << 16)  # a library's titles are asked for at every question
def words_in(title: str) -> Counts:
    """The content words of a title; all its words where it has no others."""
    return Counts.of(np.array([hash_word(word) for word in title_words(title)], dtype=np.uint64))


@dataclass(frozen=True)
class Places:
    """How often each of some terms stands in each sentence; those of term t are at offsets[t]:offsets[t + 1]."""

    sentence: Ints
    count: Ints
    offsets: Ints
    sentences: int  # of the document

    @staticmethod
    def of(term: Ints, sentence: Ints, terms: int, sentences: int) -> "Places":
        """From the number and the sentence of every occurrence of some `terms`."""
        found, count = np.unique(term * max(1, sentences) + sentence, return_counts=True)
        number, home = np.divmod(found, max(1, sentences))
        return Places(home, count.astype(np.int64), np.searchsorted(number, np.arange(terms + 1)), sentences)


@dataclass(frozen=True)
class Stream:
    """The terms of consecutive sentences: sentence s is ids[offsets[s]:offsets[s + 1]]."""

    ids: Hashes
    offsets: Ints

    @staticmethod
    def cat(parts: Sequence["Stream"]) -> "Stream":
        """Concatenate the sentences of several documents."""
        lengths = np.concatenate([np.diff(part.offsets) for part in parts])
        return Stream(np.concatenate([part.ids for part in parts]), offsets_of(lengths))

    @cached_property
    def counts(self) -> Counts:
        """The counts over all sentences."""
        return Counts.of(self.ids)

    @cached_property
    def places(self) -> Places:
        """The sentences of each distinct term, in the order of `counts`."""
        distinct = self.counts.ids
        return Places.of(np.searchsorted(distinct, self.ids), self.sentence, len(distinct), len(self.offsets) - 1)

    def sentence_counts(self) -> list[Counts]:
        """The counts of each sentence."""
        return [Counts.of(self.ids[start:end]) for start, end in pairwise(self.offsets.tolist())]

    def part(self, sentences: Ints) -> "Stream":
        """Some of the sentences, in the order given."""
        lengths = np.diff(self.offsets)[sentences]
        offsets = np.concatenate([[0], lengths.cumsum()]).astype(np.int64)
        places = np.arange(offsets[-1]) + np.repeat(self.offsets[sentences] - offsets[:-1], lengths)
        return Stream(self.ids[places], offsets)

    @cached_property
    def sentence(self) -> Ints:
        """The sentence each term stands in."""
        return np.repeat(np.arange(len(self.offsets) - 1), np.diff(self.offsets))


@dataclass(frozen=True)
class Terms:
    """A document's words and phrases."""

    words: Stream

    @staticmethod
    def cat(parts: Sequence["Terms"]) -> "Terms":
        """Concatenate the sentences of several documents."""
        return Terms(Stream.cat([part.words for part in parts]))

    def of(self, kind: Kind) -> Stream:
        """The words, or the phrases."""
        return self.words if kind == "words" else self.phrases

    @cached_property
    def phrases(self) -> Stream:
        """Runs of two and three words that do not cross the end of a sentence."""
        return phrases_of(self.words)

    def part(self, sentences: Ints) -> "Terms":
        """The terms of some sentences."""
        return Terms(self.words.part(sentences))


def terms_of(document: Document, spans: Iterable[tuple[int, int]] | None = None, with_form: bool = False) -> Terms:
    """The terms of each sentence of the running text (or of the spans given): of content words, or all `with_form`."""
    return _hashed(_words_of(document, spans, with_form))


def spelled_terms_of(document: Document) -> tuple[Terms, list[str]]:
    """The terms of each sentence, and how the distinct words are spelled, in the order of `Terms.words.counts`."""
    words = _words_of(document)
    terms = _hashed(words)
    distinct = {hash_word(word): word for word in chain.from_iterable(words)}
    return terms, [distinct[id] for id in terms.words.counts.ids.tolist()]


def _words_of(
    document: Document, spans: Iterable[tuple[int, int]] | None = None, with_form: bool = False
) -> list[list[str]]:
    text = document.readable
    pieces = spans if spans is not None else ((s.start, s.end) for s in document.sentences)
    return words_of_each([text[start:end] for start, end in pieces], with_form)


def _hashed(words: Sequence[Sequence[str]]) -> Terms:
    offsets = np.cumsum([0, *map(len, words)], dtype=np.int64)
    return Terms(Stream(np.fromiter(map(hash_word, chain.from_iterable(words)), np.uint64, int(offsets[-1])), offsets))


def phrases_of(words: Stream) -> Stream:
    """Hash every run of two and three words of a sentence, there the shorter ones first."""
    lengths = np.diff(words.offsets)
    runs = [np.maximum(lengths - (length - 1), 0) for length in PHRASE_LENGTHS]  # of each sentence
    offsets = offsets_of(np.sum(runs, axis=0))
    ids = np.empty(offsets[-1], dtype=np.uint64)
    first = offsets[:-1]
    for length, count in zip(PHRASE_LENGTHS, runs, strict=True):
        starts = ranges(words.offsets[:-1], words.offsets[:-1] + count)
        ids[ranges(first, first + count)] = hash_runs(words.ids, starts, length)
        first = first + count
    return Stream(ids, offsets)


def run_starts(words: Stream, length: int) -> Ints:
    """Where the runs of `length` words begin that do not cross the end of a sentence."""
    sentence, count = words.sentence, max(0, len(words.ids) - length + 1)
    return np.flatnonzero(sentence[:count] == sentence[length - 1 : length - 1 + count])


def hash_runs(words: Hashes, starts: Ints, length: int) -> Hashes:
    """The terms of runs of `length` words, of 32 bits that stand twice; a run of one is the word itself."""
    if length == 1:
        return words[starts]
    mixed = np.full(len(starts), length, dtype=np.uint64)
    for position in range(length):
        mixed = (mixed ^ words[starts + position]) * _MIX
        mixed ^= mixed >> np.uint64(29)
    return widened(narrowed(mixed))


def narrowed(phrases: Hashes) -> npt.NDArray[np.uint32]:
    """The first half of the bits, in the same order: a collection has many phrases, and they are kept in it."""
    return (phrases >> HALF).astype(np.uint32)


def widened(halves: npt.NDArray[np.uint32]) -> Hashes:
    """The phrases whose bits those are: both halves of a phrase are alike.

    >>> int(narrowed(widened(np.array([7], np.uint32)))[0])
    7
    """
    wide = halves.astype(np.uint64)
    return (wide << HALF) | wide


@dataclass(frozen=True)
class TermTable:
    """Distinct terms, sorted, each in the slot that its last bits name.

    Terms are hashes already, or positions in a sorted list of hashes, so one look at the slot tells nearly all foreign
    terms from the table's own; a search in the sorted terms takes ten times as long.
    """

    ids: Keys
    slots: npt.NDArray[np.int32]  # the position of a slot's term
    taken: Flags  # slots that hold a term: a small table, which is looked at first
    crowded: Ints  # positions of terms whose slot holds another

    @staticmethod
    def of(ids: Keys) -> "TermTable":
        """A table of these terms, which must be sorted."""
        bits = int(np.clip(np.ceil(np.log2(SPARSE * max(1, len(ids)))), *BITS))
        slots, taken = np.zeros(1 << bits, dtype=np.int32), np.zeros(1 << bits, dtype=bool)
        numbers = np.arange(len(ids))
        slot = _slot(ids, len(slots))
        slots[slot], taken[slot] = numbers, True
        return TermTable(ids, slots, taken, numbers[slots[slot] != numbers])

    def find(self, terms: Keys) -> tuple[Ints, Ints]:
        """Where in `terms` those of the table stand, in no particular order, and their positions in the table.

        >>> where, position = TermTable.of(np.array([2, 5, 9], np.uint64)).find(np.array([5, 6, 9], np.uint64))
        >>> where.tolist(), position.tolist()
        ([0, 2], [1, 2])
        """
        slot = _slot(terms, len(self.slots))
        where = np.flatnonzero(self.taken.take(slot))
        position = self.slots[slot[where]].astype(np.int64)
        same = self.ids[position] == terms[where]
        if not len(self.crowded):
            return where[same], position[same]
        others = where[~same]
        place, present = lookup(self.ids[self.crowded], terms[others])
        return (
            np.concatenate([where[same], others[present]]),
            np.concatenate([position[same], self.crowded[place[present]]]),
        )


def _slot(terms: Keys, slots: int) -> Ints:
    last_bits = terms & terms.dtype.type(slots - 1)
    return last_bits.view(np.int64) if last_bits.itemsize == 8 else last_bits.astype(np.int64)
