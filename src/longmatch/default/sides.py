"""The sides of the default score: every way in which a query and a candidate can be alike, each defined once.

A side has a name, a label for people, a floor for its logarithm, flags that say when it counts, a formula, and a way to
be explained. The formula reads a `Comparison`, which a collection in memory, a lone pair and a library on disk all
offer; so a side is computed alike wherever documents lie. How much each side weighs is learnt (`Calibration`).
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np
import numpy.typing as npt

from longmatch.lexical.terms import Flags, Ints, Kind
from longmatch.ragged import Array, array_namespace, as_numbers

Floats = npt.NDArray[np.float64]

TITLE_SENTENCES = 3  # sentences of the query that must come close to a title: one may do so by chance
TITLE_COSINE = 0.5  # up to which a sentence says something else than a title
SHORT_QUERY = (0.125, 0.25)  # share of the usual words up to which a query is a question, from which a document
LENGTH_SLOPE = 0.35  # how far a candidate's own length counts for a question, beside the usual length


class Comparison(Protocol):
    """A query and its candidates, and all that the sides are computed from; arrays have an entry per candidate."""

    @property
    def query_sentences(self) -> Array:
        """Vectors of the query's sentences: (sentences, width)."""

    @property
    def query_vector(self) -> Array:
        """The query's document vector: (width,)."""

    @property
    def query_words(self) -> int:
        """The number of words of the query."""

    @property
    def usual_words(self) -> float:
        """The number of words of a usual document of the collection; 0 where too few are known."""

    @property
    def candidate_vectors(self) -> Array:
        """Document vectors: (candidates, width)."""

    @property
    def title_vectors(self) -> Array:
        """Vectors of the candidates' titles, zeros for no title: (candidates, width)."""

    @property
    def candidate_words(self) -> Ints:
        """The number of words of each candidate."""

    @property
    def same_language(self) -> Flags | None:
        """Which candidates are in the query's language; None where the backbone reads one language, and it is moot."""

    def term_cosines(self, kind: Kind) -> Floats:
        """Cosines of the TF-IDF weights of words or phrases."""

    def sentence_scores(self) -> Floats:
        """The mean similarity of each sentence to its best partner, above chance, averaged over both directions."""

    def title_cosines(self) -> Floats:
        """Cosines of the candidates' titles with the query's words."""

    def query_title_cosines(self) -> Floats:
        """Cosines of the query's title with the candidates' words."""

    def coupling(self) -> Floats:
        """How many documents of the collection both mention by title (`longmatch.lexical.mentions.coupling`)."""


@dataclass(frozen=True)
class Side:
    """One way in which two documents are alike: a similarity of 0 for nothing in common, up to 1.

    `explained_by` says where a side's share of the evidence is shown: shared terms and best partners of sentences are
    aligned passages; a side of whole documents has its share in `Match.parts` alone.
    """

    name: str
    label: str  # as in "30% shared words"
    floor: float  # added to the similarity before its logarithm is taken: what lies below it counts little
    similarity: Callable[[Comparison], Floats]
    explained_by: Literal["terms", "partners", "document"] = "document"
    directed: bool = False  # differs when query and candidate change places
    needs_language: bool = False  # read by the backbone: counts as far as it knows the language
    needs_titles: bool = False  # counts as far as titles describe their documents
    full_for_copies: bool = True  # a copy has all of it; else a relative may have more
    in_likeness: bool = False  # distinguishes copies from relatives, and compares parts of documents
    in_one_language: bool = False  # says nothing of two documents in different languages
    linear: bool = False  # unrelated documents vary around 0 as much below it as above: no logarithm says how far


def title_closeness(comparison: Comparison) -> Floats:
    """How far the mean of the TITLE_SENTENCES best cosines of query sentences with a title lies above TITLE_COSINE.

    It is 0 without a title: sentences close to a title speak for a candidate, and their absence not against it.
    """
    sentences = comparison.query_sentences
    cosines = array_namespace(sentences).sort(sentences @ comparison.title_vectors.T, axis=0)
    best = cosines[-TITLE_SENTENCES:].mean(0)
    return as_numbers(((best - TITLE_COSINE) / (1 - TITLE_COSINE)).clip(min=0))


def length_correction(query_words: int, candidate_words: npt.ArrayLike, usual_words: float) -> Floats:
    """By how much a short query should multiply the cosines with each candidate; 1 for a candidate of usual length.

    A cosine divides by a document's length. For a short query that is too much, as what else a long document holds does
    not speak against it: it should divide by (1 - slope) usual + slope own (Singhal et al., Pivoted document length
    normalization, 1996). The length of a vector grows with the square root of the number of words.
    """
    if not usual_words:
        return np.ones_like(candidate_words, dtype=np.float64)
    slope = np.interp(query_words / usual_words, SHORT_QUERY, (LENGTH_SLOPE, 1))
    own = np.sqrt(np.maximum(candidate_words, 1) / usual_words)
    return np.asarray(own / (1 - slope + slope * own))


SIDES = (
    Side(
        "words",
        "shared words",
        floor=0.01,
        similarity=lambda comparison: comparison.term_cosines("words"),
        in_one_language=True,
        explained_by="terms",
        in_likeness=True,
    ),
    Side(
        "phrases",
        "shared phrases",
        floor=0.001,
        similarity=lambda comparison: comparison.term_cosines("phrases"),
        in_one_language=True,
        explained_by="terms",
    ),
    Side(
        "meaning",
        "meaning",
        floor=0.2,
        similarity=lambda comparison: comparison.sentence_scores(),
        explained_by="partners",
        needs_language=True,
        in_likeness=True,
        linear=True,
    ),
    Side(
        "topic",
        "topic",
        floor=0.05,
        similarity=lambda comparison: as_numbers(comparison.candidate_vectors @ comparison.query_vector),
        needs_language=True,
    ),
    Side(
        "title",
        "words of the second title",
        floor=0.05,
        similarity=lambda comparison: comparison.title_cosines(),
        in_one_language=True,
        directed=True,
        needs_titles=True,
        full_for_copies=False,
    ),
    Side(
        "query_title",
        "words of the first title",
        floor=0.05,
        similarity=lambda comparison: comparison.query_title_cosines(),
        in_one_language=True,
        directed=True,
        needs_titles=True,
        full_for_copies=False,
    ),
    Side(
        "named",
        "shared references",
        floor=0.03,
        similarity=lambda comparison: comparison.coupling(),
        full_for_copies=False,
    ),
    Side(
        "cites_title",
        "sentences close to the second title",
        floor=1.0,
        similarity=title_closeness,
        directed=True,
        needs_language=True,
        needs_titles=True,
        full_for_copies=False,
    ),
)
"""The sides that can be weighed, in the order in which they are stored."""

LENGTH = Side(
    "length",
    "length",
    floor=0.01,
    similarity=lambda comparison: length_correction(
        comparison.query_words, comparison.candidate_words, comparison.usual_words
    ),
    in_one_language=True,
    directed=True,
)
"""Not a similarity but a correction of words and phrases, where the language is unknown and the query short."""

NAMES = tuple(side.name for side in SIDES)
BY_NAME = {side.name: side for side in (*SIDES, LENGTH)}


def named(choose: Callable[[Side], bool]) -> frozenset[str]:
    """The names of the sides with a property.

    >>> sorted(named(lambda side: side.in_likeness))
    ['meaning', 'words']
    """
    return frozenset(side.name for side in SIDES if choose(side))


def similarities(comparison: Comparison, names: Iterable[str]) -> dict[str, Floats]:
    """The similarity of the query and every candidate on the sides named: an entry per candidate each.

    NaN where a side says nothing of two documents, as shared words of two languages: it then counts as at chance.
    """
    found = {name: BY_NAME[name].similarity(comparison) for name in names}
    comparable = comparison.same_language
    if comparable is None:
        return found
    return {name: np.where(comparable, x, np.nan) if BY_NAME[name].in_one_language else x for name, x in found.items()}
