"""Which aligned passages say something about two documents in particular, and which say the same in other words; and
what the documents are called that both mention.

What a passage carries of the score is no measure of that: what both documents are about stands in many of their
sentences, so that each carries little of it, and a word that each has once falls to a single pair. A pair says

    similarity * sqrt(share of the weight of all shared words that both passages have)

where everyday words, and those of most texts of a kind, count nothing, and words of two languages are not compared. A
pair that says the same in other words shares hardly any: it goes by its similarity alone, among others of its kind
(`Pairs.strongest`).
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from longmatch.default.encoding import Encoding
from longmatch.default.rarity import Rarity
from longmatch.default.sides import named
from longmatch.default.term_rarity import TermRarity
from longmatch.lexical.key_terms import heaviest_words, is_everyday, written
from longmatch.lexical.links import Shared, SharedTerms, shared_terms, shared_weight
from longmatch.lexical.mentions import bare_title, stack_titles
from longmatch.lexical.terms import Flags, Hashes, Ints
from longmatch.matching.align import NO_ROWS, Evidence, alignments, merge, readable_pairs
from longmatch.matching.levels import BothPartners
from longmatch.matching.match import Alignment
from longmatch.matching.presentable import is_sentence
from longmatch.ragged import Floats

LEAST_SIMILARITY = 0.1  # up to which two passages have nothing in common but a word
SAME_MEANING = 0.4  # similarity above that of the best of unrelated passages, from which two say the same ...
SAME_MEANING_SUMMED = 0.35  # ... and by token vectors, which are less alike
READ = 0.5  # trust in the language from which similarities say something: half of any other's words pass for English
OTHER_WORDS = 0.25  # share of the words of either, by rarity, up to which the other's words are others
MOST_LISTED = 5


@dataclass(frozen=True)
class SentenceEvidence:
    """What the sentences of two documents share, and which of each have more than boilerplate."""

    shared: SharedTerms
    content: Shared  # words, without everyday ones
    distinctive: tuple[Flags, Flags]


def align_passages(
    a: Encoding,
    b: Encoding,
    rarity: Rarity,
    parts: Mapping[str, float],
    partners: BothPartners,
    found: SentenceEvidence,
    most: int | None = None,
) -> tuple[Alignment, ...]:
    """Aligned passages, their contributions summing to 1; or the `most` to show, which is quicker.

    `parts` are the sides' shares of the evidence. A sentence's share of the meaning goes to its best partner; a shared
    term's is halved, as both documents hold it.
    """
    above = [
        each.corrected.clip(min=0).astype(np.float64) * distinctive
        for each, distinctive in zip(partners, found.distinctive, strict=True)
    ]
    total = sum(float(mass.mean()) for mass in above) or 1.0
    share = sum(parts.get(name, 0.0) for name in named(lambda side: side.explained_by == "partners"))
    directions = []
    for each, mass, links in zip(partners, above, (found.shared.forward, found.shared.backward), strict=True):
        linked = np.where(links.partner >= 0, links.partner, each.index)
        semantic = Evidence(each.index, share * mass / (len(mass) * total))
        directions.append([semantic, Evidence(linked, links.mass / 2, lexical=True)])

    is_read = rarity.trust[0] >= READ  # the backbone knows the language, so that similarities say something
    in_one_language = a.document.language == b.document.language
    content = found.content
    i, j = NO_ROWS, NO_ROWS
    if is_read and in_one_language:
        i, j = _paraphrases(a, b, rarity, partners, found.distinctive)
    pairs = merge(*directions, also=(i, j))
    pair, term = shared_terms(a.terms.words, b.terms.words, pairs.a, pairs.b, content.ids)
    starts = np.searchsorted(pair, np.arange(len(pairs.a) + 1))  # of each pair's terms
    strength = np.ones(len(pairs.a))
    if in_one_language:
        strength = np.sqrt(np.bincount(pair, content.mass[term], len(pairs.a)))
    paraphrase = np.isin(pairs.a * len(b) + pairs.b, i * len(b) + j)
    if is_read:
        alike = sentence_pair_scores(a, b, pairs.a, pairs.b)
        strength *= np.where(alike >= LEAST_SIMILARITY, alike, 0.0)
        strength[np.isin(pairs.a, i) | np.isin(pairs.b, j)] = 0.0  # what has a paraphrase says nothing else
        strength[paraphrase] = alike[paraphrase]
    pairs = replace(pairs, strength=strength, paraphrase=paraphrase)
    return alignments(
        pairs,
        (a.sentences, b.sentences),
        lambda i, j: sentence_pair_scores(a, b, i, j),
        lambda best: heaviest_words(
            content, [term[starts[place] : starts[place + 1]] for place in best], a.sentences, pairs.a[best]
        ),
        None if most is None else readable_pairs(pairs, (a.sentences.shown, b.sentences.shown), most),
    )


def _paraphrases(
    a: Encoding, b: Encoding, rarity: Rarity, partners: BothPartners, distinctive: tuple[Flags, Flags]
) -> tuple[Ints, Ints]:
    """The pairs of whole sentences of one language that say the same in other words."""
    forward, backward = partners
    alike = SAME_MEANING if a.tokens is None else SAME_MEANING_SUMMED
    i = np.flatnonzero(distinctive[0] & (forward.corrected >= alike))
    j = forward.index[i]
    same = distinctive[1][j] & (backward.corrected[j] >= alike) & (backward.index[j] == i)
    i, j = i[same], j[same]
    if not len(i):
        return NO_ROWS, NO_ROWS

    # the share of the words of sentences i of a that stand in those of b, by rarity, or that of b's in a's
    mine, theirs = a.terms.words.part(i), b.terms.words.part(j)
    words = np.union1d(mine.ids, theirs.ids)
    weight = np.where(says_nothing(words, rarity, a.document.language), 0.0, rarity.words.idf(words))
    each = np.arange(len(i))
    both, *own = (
        shared_weight(x, y, each, each, words, weight) for x, y in ((mine, theirs), (mine, mine), (theirs,) * 2)
    )
    least = np.minimum(*own)
    other = np.where(least > 0, both / np.where(least > 0, least, 1.0), 1.0) <= OTHER_WORDS

    i, j = i[other], j[other]
    is_whole = [
        is_sentence(a.sentences.shown(x)) and is_sentence(b.sentences.shown(y))
        for x, y in zip(i.tolist(), j.tolist(), strict=True)
    ]
    whole = np.array(is_whole, dtype=bool)
    return i[whole], j[whole]


def says_nothing(words: Hashes, rarity: Rarity, language: str) -> Flags:
    """Which words are everyday ones, or those of most texts of a kind."""
    background = rarity.statistics.terms
    return is_everyday(words, background, language) | background.common(words)


def sentence_pair_scores(a: Encoding, b: Encoding, i: Ints, j: Ints) -> Floats:
    """The cosine of sentence i of a with sentence j of b, pair by pair, corrected for that of unrelated sentences."""
    cosine = (a.sentence_vectors.vectors[i] * b.sentence_vectors.vectors[j]).sum(1)
    expected = (a.sentence_vectors.expectations[i, 0] + b.sentence_vectors.expectations[j, 0]) / 2
    return np.asarray(((cosine - expected) / (1 - expected)).clip(0, 1), dtype=np.float64)


def shared_mentions(a: Encoding, b: Encoding, rarity: TermRarity) -> tuple[str, ...]:
    """The rarest titles of the collection, and of the two, that both mention; each once.

    They are spelled as the documents are titled, or as they stand in the first text.
    """
    mentions = rarity.titles.mentioned(a.all_terms, stack_titles([a.title_terms, b.title_terms]))
    rarities = rarity.of_mentions(mentions)
    _, shared = mentions.in_documents(np.zeros(len(b.all_terms), dtype=np.int64), b.all_terms)
    order = shared[np.argsort(-rarities[shared], kind="stable")]
    spelled = (_spelled(mentions.terms[i], a, b) for i in order if rarities[i] > 0)
    distinct = {name.lower(): name for name in spelled if name}
    return tuple(distinct.values())[:MOST_LISTED]


def _spelled(terms: Hashes, a: Encoding, b: Encoding) -> str:
    for encoding in (a, b):
        if np.array_equal(encoding.title_terms, terms):
            return bare_title(encoding.document.title)
    for stream in (a.terms.words, a.terms.phrases):
        first, last = (stream.sentence[stream.ids == term] for term in (terms[0], terms[-1]))
        for sentence in np.intersect1d(first, last).tolist():
            if text := written(terms[0], terms[-1], a.sentences.readable(sentence)):
                return text
    return ""
