"""Which aligned passages say something about two documents in particular, and which say the same in other words; and
what the documents are called that both mention.

What a passage carries of the score is no measure of that: what both documents are about stands in many of their
sentences, so that each carries little of it, and a word that each has once falls to a single pair. A pair says

    similarity * sqrt(share of the weight of all shared words that both passages have)

where everyday words, and those of most texts of a kind, count nothing, and words of two languages are not compared. A
pair that says the same in other words shares hardly any: it goes by its similarity alone, among others of its kind
(`Pairs.strongest`).
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from longmatch.default.encoding import Encoding
from longmatch.default.rarity import Rarity
from longmatch.default.term_rarity import TermRarity
from longmatch.lexical.background import TermBackground
from longmatch.lexical.key_terms import is_everyday, shared_words, written
from longmatch.lexical.links import Shared, shared_weight
from longmatch.lexical.mentions import bare_title, stack_titles
from longmatch.lexical.terms import Flags, Hashes, Ints
from longmatch.matching.align import NO_ROWS, Pairs
from longmatch.matching.levels import BothPartners
from longmatch.matching.presentable import is_sentence
from longmatch.ragged import Floats, as_numbers

LEAST_SIMILARITY = 0.1  # up to which two passages have nothing in common but a word
SAME_MEANING = 0.4  # similarity above that of the best of unrelated passages, from which two say the same
READ = 0.5  # trust in the language from which similarities say something: half of any other's words pass for English
OTHER_WORDS = 0.25  # share of the words of either, by rarity, up to which the other's words are others
MOST_LISTED = 5


@dataclass(frozen=True)
class PassageEvidence:
    """What the sentences of two documents have to do with each other."""

    a: Encoding
    b: Encoding
    rarity: Rarity
    background: TermBackground
    partners: BothPartners
    distinctive: tuple[Flags, Flags]  # which sentences of each are no boilerplate
    shared: Shared  # words

    @cached_property
    def paraphrases(self) -> tuple[Ints, Ints]:
        """The pairs of whole sentences that say the same in other words; none of documents in two languages."""
        if not self._is_read or not self._in_one_language:
            return NO_ROWS, NO_ROWS
        forward, backward = self.partners
        i = np.flatnonzero(self.distinctive[0] & (forward.corrected >= SAME_MEANING))
        j = forward.index[i]
        same = self.distinctive[1][j] & (backward.corrected[j] >= SAME_MEANING) & (backward.index[j] == i)
        i, j = i[same], j[same]
        if not len(i):
            return NO_ROWS, NO_ROWS
        other = self._shared_by_rarity(i, j) <= OTHER_WORDS
        i, j = i[other], j[other]
        shown = self.a.sentences.shown, self.b.sentences.shown
        whole = [
            is_sentence(shown[0](x)) and is_sentence(shown[1](y)) for x, y in zip(i.tolist(), j.tolist(), strict=True)
        ]
        return i[np.array(whole, dtype=bool)], j[np.array(whole, dtype=bool)]

    def weigh(self, pairs: Pairs) -> Pairs:
        """The pairs, which are sorted, with how much each says; what has a paraphrase says nothing else."""
        strength = np.ones(len(pairs.a))
        if self._in_one_language:
            words = self.a.terms.words, self.b.terms.words
            strength = np.sqrt(shared_weight(*words, pairs.a, pairs.b, self._content.ids, self._content.mass))
        i, j = self.paraphrases
        paraphrase = np.isin(pairs.a * len(self.b) + pairs.b, i * len(self.b) + j)
        if self._is_read:
            alike = self.similarities(pairs.a, pairs.b)
            strength *= np.where(alike >= LEAST_SIMILARITY, alike, 0.0)
            strength[np.isin(pairs.a, i) | np.isin(pairs.b, j)] = 0.0
            strength[paraphrase] = alike[paraphrase]
        return replace(pairs, strength=strength, paraphrase=paraphrase)

    def similarities(self, i: Ints, j: Ints) -> Floats:
        """How alike sentence i of a and sentence j of b are, pair by pair."""
        return sentence_pair_scores(self.a, self.b, i, j)

    def shared_words(self, i: int, j: int) -> tuple[str, ...]:
        """The words that the two share, without everyday words."""
        text = self.a.sentences.readable(i)
        return shared_words(self._content, self.a.terms.words, self.b.terms.words, (i, j), text)

    @cached_property
    def _content(self) -> Shared:
        """The words that both have, without everyday words."""
        kept = ~self._everyday(self.shared.ids)
        return Shared(self.shared.ids[kept], self.shared.mass[kept])

    @property
    def _is_read(self) -> bool:
        """Whether the backbone knows the language, so that similarities say something."""
        return self.rarity.trust[0] >= READ

    @property
    def _in_one_language(self) -> bool:
        return self.a.document.language == self.b.document.language

    def _everyday(self, words: Hashes) -> Flags:
        return is_everyday(words, self.background, self.a.document.language) | self.background.common(words)

    def _shared_by_rarity(self, i: Ints, j: Ints) -> Floats:
        """The share of the words of sentences i of a that stand in those of b, by rarity, or that of b's in a's."""
        mine, theirs = self.a.terms.words.part(i), self.b.terms.words.part(j)
        words = np.union1d(mine.ids, theirs.ids)
        rarity = np.where(self._everyday(words), 0.0, self.rarity.words.idf(words))
        each = np.arange(len(i))
        shared, *own = (
            shared_weight(a, b, each, each, words, rarity) for a, b in ((mine, theirs), (mine, mine), (theirs, theirs))
        )
        least = np.minimum(*own)
        return np.where(least > 0, shared / np.where(least > 0, least, 1.0), 1.0)


def sentence_pair_scores(a: Encoding, b: Encoding, i: Ints, j: Ints) -> Floats:
    """The cosine of sentence i of a with sentence j of b, pair by pair, corrected for that of unrelated sentences."""
    cosine = (a.sentence_vectors.vectors[i] * b.sentence_vectors.vectors[j]).sum(1)
    expected = (a.sentence_vectors.expectations[i, 0] + b.sentence_vectors.expectations[j, 0]) / 2
    return as_numbers(((cosine - expected) / (1 - expected)).clip(0, 1))


def shared_mentions(a: Encoding, b: Encoding, rarity: TermRarity) -> tuple[str, ...]:
    """The rarest titles of the collection, and of the two, that both mention; each once.

    They are spelled as the documents are titled, or as they stand in the first text.
    """
    mentions = rarity.titles.mentioned(a.all_terms, stack_titles([a.title_terms, b.title_terms]))
    rarities = rarity.of_mentions(mentions)
    shared = mentions.in_documents(np.zeros(len(b.all_terms), dtype=np.int64), b.all_terms, 1).title
    order = shared[np.argsort(-rarities[shared], kind="stable")]
    spelled = (_spelled(mentions.terms[i], a, b) for i in order if rarities[i] > 0)
    distinct = {name.lower(): name for name in spelled if name}
    return tuple(distinct.values())[:MOST_LISTED]


def _spelled(terms: Hashes, a: Encoding, b: Encoding) -> str:
    for encoding in (a, b):
        if np.array_equal(encoding.title_terms, terms):
            return bare_title(encoding.document.title)
    return next(filter(None, (written(terms[0], terms[-1], text) for text in _sentences(terms, a))), "")


def _sentences(terms: Hashes, a: Encoding) -> Iterator[str]:
    """The sentences of a document with a title's first and last term."""
    for stream in (a.terms.words, a.terms.phrases):
        first, last = (stream.sentence[stream.ids == term] for term in (terms[0], terms[-1]))
        yield from (a.sentences.readable(int(i)) for i in np.intersect1d(first, last))
