"""What is said of two documents: how likely they belong together, or why nobody can say.

Every surface says this and shows no other scale; scores are for programs.
"""

from collections.abc import Collection, Iterable
from typing import Protocol

from longmatch.matching.match import LIKELY, Match, NoVerdict
from longmatch.render.wording import percent
from longmatch.reuse.reuse import ONE_WORDING, Reuse

_MAY = 0.30  # the probability from which two documents may belong together
_VERDICTS = (  # from this probability on, how sure, and whether they do
    (0.95, "almost certainly", True),
    (0.70, "probably", True),
    (_MAY, "may", True),
    (0.05, "probably", False),
    (0.00, "almost certainly", False),
)
_NO_MATCH = 0.05  # below this score nothing that two documents share distinguishes them
_WHY: dict[NoVerdict, str] = {
    "model": "this model's scores are not calibrated",
    "languages": "the model cannot compare two languages with each other; --backbone multilingual can",
    "language": "longmatch has no statistics of their language",
    "question": "a text this short says too little",
    "kind": "it takes more documents of their kind, in one folder or library",
}
NOTHING_STANDS_OUT = "Nothing here stands out for this question; the closest are listed."
NOTHING_CLOSE = "Nothing here shares more than such documents always do; the closest are listed."


class Judged(Protocol):
    """A document of a list, judged."""

    @property
    def probability(self) -> float | None: ...  # noqa: D102
    @property
    def no_verdict(self) -> NoVerdict | None: ...  # noqa: D102


def chance(probability: float) -> str:
    """A probability as people write it, no finer than whole percents.

    >>> chance(0.4712), chance(0.0004), chance(0.9996)
    ('47%', 'below 1%', 'above 99%')
    """
    if not 0.01 <= probability <= 0.99:
        return "below 1%" if probability < 0.5 else "above 99%"
    return f"{probability:.0%}"


def likelihood(probability: float) -> str:
    """Whether two documents belong together, in a word or two for lists; `verdict` says it in a sentence.

    >>> likelihood(0.96), likelihood(0.4), likelihood(0.1)
    ('almost certainly', 'may', 'probably not')
    """
    how, positive = _likelihood(probability)
    return how if positive else f"{how} not"


def in_words(probability: float) -> str:
    """A probability in a list: its words, and in percent.

    >>> in_words(0.84)
    'probably (84%)'
    """
    return f"{likelihood(probability)} ({chance(probability)})"


def _likelihood(probability: float) -> tuple[str, bool]:
    return next((how, positive) for least, how, positive in _VERDICTS if probability >= least)


def place_in_order(number: int, total: int) -> float:
    """How full the bar of a document without a verdict is, by its place in a list, from 0: that of the first is full.

    >>> [place_in_order(number, 4) for number in range(4)]
    [1.0, 0.75, 0.5, 0.25]
    """
    return (total - number) / total


def verdict(match: Match) -> str | None:
    """Whether the two belong together, without the full stop; None where nobody can say."""
    if match.no_verdict is not None:
        return None
    if shares_wording_alone(match):
        return "The two share wording, and little else"
    if match.measured and match.probability is not None:
        how, positive = _likelihood(match.probability)
        return f"The two {how} {'' if positive else 'do not '}belong together"
    belong = "belong together" if match.score >= (match.threshold or 0.0) else "do not belong together"
    return f"By this model's threshold the two {belong}"


def shares_wording_alone(match: Match) -> bool:
    """Whether two documents match by passages that stand in both, as standard clauses, while the rest does not."""
    if not match.measured or match.probability is None or match.probability_of_rest is None:
        return False
    return match.probability >= LIKELY and match.probability_of_rest < _MAY


def deciding_probability(match: Match) -> float | None:
    """The probability that the verdict goes by, for a bar; None where it goes by none."""
    if not match.measured:
        return None
    return match.probability_of_rest if shares_wording_alone(match) else match.probability


def stated_probability(match: Match) -> str:
    """The probability that two documents belong together, with and without the passages that stand in both where
    that changes the verdict; empty where none is stated.
    """
    if match.probability is None or not match.measured:
        return ""
    whole, rest = chance(match.probability), match.probability_of_rest
    if rest is None or rest >= match.probability or likelihood(rest) == likelihood(match.probability):
        return whole
    return f"{whole} with the wording they share, {chance(rest)} without"


def caution(match: Match) -> str:
    """What qualifies the verdict, or why there is none; empty where their text says what the two are."""
    if match.no_verdict is not None:
        same = match.relation in {"copy", *ONE_WORDING}
        return "" if same else f"Whether the two belong together cannot be said: {_WHY[match.no_verdict]}."
    if shares_wording_alone(match):
        a, b = map(percent, _standing_in_both(match.reuse))
        return (
            f"What they share is mostly wording that stands in both ({a} of A, {b} of B), "
            "as standard clauses do; the rest has little in common."
        )
    return ""


def nothing_distinctive(match: Match) -> str:
    """That the passages below say nothing about these two; empty where they do."""
    if not match.measured or match.probability is None or match.probability >= _MAY or match.score >= _NO_MATCH:
        return ""
    return "Nothing beyond what such documents always share."


def remarks(match: Match) -> list[str]:
    """The sentences that qualify a verdict, or say why there is none."""
    return [sentence for sentence in (caution(match), nothing_distinctive(match)) if sentence]


def ranking_remarks(hits: Iterable[Judged], stands_out: bool | None = None) -> list[str]:
    """What to know before reading a ranking: that none may belong with the query, or why nobody can say.

    For a question `stands_out` says whether there is an answer.
    """
    found = list(hits)
    if stands_out is False:
        return [NOTHING_STANDS_OUT]
    if found and all(hit.probability is not None and hit.probability < _MAY for hit in found):
        return [NOTHING_CLOSE]
    reasons = list(dict.fromkeys(hit.no_verdict for hit in found if hit.no_verdict is not None))
    some = len({hit.no_verdict for hit in found}) > 1
    return [_unsaid(reason, some) for reason in reasons]


def pairs_remarks(reasons: Collection[NoVerdict | None]) -> list[str]:
    """Why pairs of a library have no verdict, by the reasons that there are; None where some have one."""
    pairs = "pairs that share no text" if len(reasons) == 1 else "some pairs that share no text"
    said = f"Whether {pairs} belong together cannot be said, only which come first"
    return [f"{said}: {why}." for reason, why in _WHY.items() if reason in reasons]


def _unsaid(reason: NoVerdict, some: bool) -> str:
    """Why the documents of a list have no verdict, or some of them."""
    these = "some of these" if some else "these"
    return f"Whether {these} belong with it cannot be said, only which come first: {_WHY[reason]}."


def _standing_in_both(reuse: Reuse) -> tuple[float, float]:
    """The share of the words of each document that stands in the other, boilerplate too."""
    return (
        (reuse.reused_a + reuse.common_a) / max(1, reuse.words_a),
        (reuse.reused_b + reuse.common_b) / max(1, reuse.words_b),
    )
