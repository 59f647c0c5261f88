"""The sides of the default score: every way in which a query and a candidate can be alike, each defined once.

A side has a name, a label for people, a floor for its logarithm, flags that say when it counts, a formula, and a way to
be explained. The formula reads a `Comparison`, whose candidates a collection in memory, a lone pair, a library on disk
and an evaluation fill; so a side is computed alike wherever documents lie. How much each side weighs is learnt
(`Calibration`).
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from longmatch.default.comparison import Comparison
from longmatch.ragged import Floats


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
        floor=0.4,
        similarity=Comparison.meaning_cosines,
        explained_by="partners",
        needs_language=True,
        in_likeness=True,
        linear=True,
    ),
    Side(
        "title",
        "words of the second title",
        floor=0.05,
        similarity=Comparison.title_cosines,
        in_one_language=True,
        directed=True,
        needs_titles=True,
        full_for_copies=False,
    ),
    Side(
        "query_title",
        "words of the first title",
        floor=0.05,
        similarity=Comparison.query_title_cosines,
        in_one_language=True,
        directed=True,
        needs_titles=True,
        full_for_copies=False,
    ),
    Side("named", "shared references", floor=0.03, similarity=Comparison.coupling, full_for_copies=False),
    Side(
        "cites_title",
        "a sentence close to the second title",
        floor=1.0,
        similarity=Comparison.title_closeness,
        directed=True,
        needs_language=True,
        needs_titles=True,
        full_for_copies=False,
    ),
)
"""The sides that can be weighed, in the order in which they are stored."""

LENGTH = Side(
    "length", "length", floor=0.01, similarity=Comparison.length_correction, in_one_language=True, directed=True
)
"""Not a similarity but a correction of words and phrases, where the language is unknown and the query short."""

NAMES = tuple(side.name for side in SIDES)
BY_NAME = {side.name: side for side in (*SIDES, LENGTH)}


def named(choose: Callable[[Side], bool]) -> frozenset[str]:
    """The names of the sides with a property.

    >>> sorted(named(lambda side: side.in_likeness))
    ['meaning', 'words']
    """
    return frozenset(side.name for side in BY_NAME.values() if choose(side))


def labels() -> dict[str, str]:
    """The sides as people call them, by name."""
    return {name: side.label for name, side in BY_NAME.items()}


def similarities(comparison: Comparison, names: Iterable[str]) -> dict[str, Floats]:
    """The similarity of the query and every candidate on the sides named: an entry per candidate each.

    NaN where a side says nothing of two documents, as shared words of two languages: it then counts as at chance.
    """
    found = {name: BY_NAME[name].similarity(comparison) for name in names}
    if not comparison.query.rarity.reads_english_alone:  # else all documents count as in one language
        same = comparison.candidates.languages == comparison.query.language
        found |= {name: np.where(same, x, np.nan) for name, x in found.items() if BY_NAME[name].in_one_language}
    return found
