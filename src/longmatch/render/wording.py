"""How what was found is put into words, the same on every surface: the verdict on two documents, and what it rests on.

Every surface says how likely two documents belong together, or why nobody can say, and shows no other scale; scores are
for programs.
"""

from collections.abc import Mapping
from typing import Literal

from longmatch.documents.document import Document, brief
from longmatch.matching.match import Alignment, Match
from longmatch.matching.wording import LIKELY, MAY, WHY_NOT, count, how_likely, label, likelihood, listed
from longmatch.reuse.reuse import ONE_WORDING
from longmatch.reuse.revision import Revision, SectionChange

_NO_MATCH = 0.05  # below this score nothing that two documents share distinguishes them
_MOVES = 3  # sections that moved, each with a sentence
_CHANGES: tuple[Literal["added", "removed", "moved"], ...] = ("added", "removed", "moved")
_KINDS = {"keyword": "same words", "meaning": "same meaning"}


def chance(probability: float) -> str:
    """A probability as people write it, no finer than whole percents.

    >>> chance(0.4712), chance(0.0004), chance(0.9996)
    ('47%', 'below 1%', 'above 99%')
    """
    if not 0.01 <= probability <= 0.99:
        return "below 1%" if probability < 0.5 else "above 99%"
    return f"{probability:.0%}"


def in_words(probability: float) -> str:
    """A probability in a list: its words, and in percent.

    >>> in_words(0.84)
    'probably (84%)'
    """
    return f"{likelihood(probability)} ({chance(probability)})"


def verdict(match: Match) -> str | None:
    """Whether the two belong together, without the full stop; None where nobody can say."""
    if match.no_verdict is not None:
        return None
    if shares_wording_alone(match):
        return "The two share wording, and little else"
    if match.measured and match.probability is not None:
        how, positive = how_likely(match.probability)
        return f"The two {how} {'' if positive else 'do not '}belong together"
    belong = "belong together" if match.score >= (match.threshold or 0.0) else "do not belong together"
    return f"By this model's threshold the two {belong}"


def shares_wording_alone(match: Match) -> bool:
    """Whether two documents match by passages that stand in both, as standard clauses, while the rest does not."""
    if not match.measured or match.probability is None or match.probability_of_rest is None:
        return False
    return match.probability >= LIKELY and match.probability_of_rest < MAY


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
        return "" if same else f"Whether the two belong together cannot be said: {WHY_NOT[match.no_verdict]}."
    if shares_wording_alone(match):
        reuse = match.reuse  # boilerplate stands in both too
        a = percent((reuse.reused_a + reuse.common_a) / max(1, reuse.words_a))
        b = percent((reuse.reused_b + reuse.common_b) / max(1, reuse.words_b))
        return (
            f"What they share is mostly wording that stands in both ({a} of A, {b} of B), "
            "as standard clauses do; the rest has little in common."
        )
    return ""


def nothing_distinctive(match: Match) -> str:
    """That the passages below say nothing about these two; empty where they do."""
    if not match.measured or match.probability is None or match.probability >= MAY or match.score >= _NO_MATCH:
        return ""
    return "Nothing beyond what such documents always share."


def remarks(match: Match) -> list[str]:
    """The sentences that qualify a verdict, or say why there is none."""
    return [sentence for sentence in (caution(match), nothing_distinctive(match)) if sentence]


def kind_label(pair: Alignment) -> str:
    """What two passages have in common: their words, their meaning, or the meaning alone."""
    return "same meaning, other words" if pair.paraphrase else _KINDS[pair.kind]


def percent(share: float) -> str:
    """A share as people write it: one decimal below ten per cent; all of it is 100% and nothing else.

    >>> percent(0.4712), percent(0.0312), percent(0.0001), percent(0.998)
    ('47%', '3.1%', '<0.1%', '>99%')
    """
    if 0 < share < 0.0005:
        return "<0.1%"
    if 0.995 <= share < 1:
        return ">99%"
    return f"{share:.0%}" if share >= 0.0995 else f"{share * 100:.1f}%"


def shared_text(match: Match) -> list[str]:
    """Sentences on the text that stands in both documents; none where there is none."""
    reuse, relation = match.reuse, match.relation
    if relation == "copy":
        left_out = listed(list(reuse.not_compared))
        missing = f" The {left_out} of one are not compared: the file of the other can give none." if left_out else ""
        return [f"The two are copies: their visible characters are the same.{missing}"]
    if relation in ONE_WORDING:
        revision = match.revision
        kept = revision.words("same") + revision.words("moved")
        own, other = (kept / max(1, kept + revision.words(changed)) for changed in ("removed", "added"))
        parts = f"{percent(own)} of A stands unchanged in B, {percent(other)} of B in A"
        are = "The two are versions of one text"
        if relation == "template":
            are = "The two follow one template, with other dates, amounts and numbers"
        elif reuse.may_be_template:
            are = "The two are versions of one text, or documents of one template"
        return [f"{are}: {parts}.", revision_summary(revision)]
    said = []
    if reuse.reused_a:
        shares = f"{percent(reuse.share_a)} of A ({count(reuse.reused_a, reuse.unit)})"
        how = how_exactly(reuse.unchanged, reuse.unit)
        said.append(f"{shares} stands {how} in B, where it is {percent(reuse.share_b)}.")
    if reuse.common_a:
        also = "A further " if reuse.reused_a else ""
        common = f"{also}{count(reuse.common_a, reuse.unit)} of A"
        said.append(f"{common} stand in B and in many documents of the collection.")
    return said


def how_exactly(unchanged: float, unit: str = "word") -> str:
    """How a passage stands in another document, by the share of its words, or characters, that are the same.

    >>> how_exactly(1.0), how_exactly(0.9)
    ('word for word', 'nearly word for word')
    """
    return f"{'' if unchanged == 1 else 'nearly '}{unit} for {unit}"


def revision_summary(revision: Revision) -> str:
    """Sentences on how many words changed between two versions, on sections that moved, and on tables that differ."""
    changes = [f"{count(number, 'word')} {name}" for name in _CHANGES if (number := revision.words(name))]
    said = [f"From A to B: {listed(changes)}." if changes else "No word was added, removed or moved."]
    if revision.titles:
        said.append("The title “{}” became “{}”.".format(*revision.titles))
    moved = [section for section in revision.sections if section.status == "moved"]
    longest = sorted(moved, key=lambda section: -section.moved)[:_MOVES]
    named = [section for section in moved if section in longest]
    for section in named:
        name = section.was[0] if section.was else label(section.heading, section.opening)
        said.append(f"“{name}” {section_status(section)}.")
    if len(moved) > len(named):
        said.append(f"{count(len(moved) - len(named), 'more section')} moved.")
    if cells := sum(len(table.cells) for table in revision.tables):
        said.append(f"{count(cells, 'cell')} differ{'s' if cells == 1 else ''} in tables.")
    return " ".join(said)


def section_status(section: SectionChange) -> str:
    """What happened to a section between two versions, in a few words."""
    side = "before" if section.before else "after"
    beside = section.before or section.after
    return f"{section.status} {side} “{beside}”" if beside else section.status


def section_note(section: SectionChange) -> str:
    """What else there is to say of it, in brackets behind its heading; often nothing."""
    along = f"with {count(section.subsections, 'subsection')}" if section.subsections else ""
    was = ", ".join(f"“{name}”" for name in section.was)
    edited = "edited" if section.edited and section.status in ("moved", "renamed", "split", "merged") else ""
    return "; ".join(part for part in (along, was and f"was {was}", edited) if part)


def shares(parts: Mapping[str, float], labels: Mapping[str, str]) -> list[tuple[str, float]]:
    """The parts that carry a score by their labels, largest first; their shares sum to 1.

    >>> shares({"words": 0.5, "meaning": 1.5, "phrases": 0.0}, {"words": "shared words"})
    [('meaning', 0.75), ('shared words', 0.25)]
    """
    total = sum(max(0.0, share) for share in parts.values())
    labelled = [(labels.get(name, name), share / total) for name, share in parts.items() if share > 0]
    return sorted(labelled, key=lambda part: -part[1])


def carried_by(match: Match) -> str:
    """One sentence on which parts carry the score; empty where the model has none."""
    named = [f"{percent(share)} {name}" for name, share in shares(match.parts, match.labels)]
    if not named:
        return ""
    return f"Based on {listed(named)}."


def both_name(match: Match) -> str:
    """One sentence on the documents that both mention; empty where there are none."""
    names = listed([f"“{' '.join(name.split())}”" for name in match.names])
    return f"Both mention {names}." if names else ""


def unread(match: Match) -> list[str]:
    """A sentence for each document that was read only in part."""
    sides = ((match.a, match.coverage.a), (match.b, match.coverage.b))
    return [f"Only {percent(read)} of “{document.title}” was read." for document, read in sides if read < 0.9995]


def bibliographic(document: Document) -> str:
    """Author, year and DOI, as far as they are known.

    >>> bibliographic(Document("a", "A", "", (), metadata={"author": "Doe, Jane", "year": 2019, "Producer": "x"}))
    'Doe, Jane, 2019'
    """
    known = (document.metadata.get(name) for name in ("author", "year", "doi"))
    return ", ".join(brief(str(value), 200) for value in known if value)


def page_label(page: int | None) -> str:
    """A page as readers write it; empty where there are no pages.

    >>> page_label(7), page_label(None)
    ('p. 7', '')
    """
    return "" if page is None else f"p. {page}"
