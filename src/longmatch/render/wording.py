"""How what was found is put into words, the same in the terminal and on the page; verdicts are in `verdict.py`."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Literal

from longmatch.documents.document import Document, brief
from longmatch.matching.match import Alignment, Match
from longmatch.reuse.reuse import ONE_WORDING, Reuse
from longmatch.reuse.revision import Revision
from longmatch.reuse.section_table import SectionChange

_MOVES = 3  # sections that moved, each with a sentence
_CHANGES: tuple[Literal["added", "removed", "moved"], ...] = ("added", "removed", "moved")
_KINDS = {"keyword": "same words", "meaning": "same meaning"}
_LANGUAGES = {
    **{
        "ar": "Arabic",
        "de": "German",
        "el": "Greek",
        "en": "English",
        "es": "Spanish",
        "fi": "Finnish",
        "fr": "French",
    },
    **{"he": "Hebrew", "hi": "Hindi", "it": "Italian", "ja": "Japanese", "ko": "Korean", "nl": "Dutch", "pl": "Polish"},
    **{"pt": "Portuguese", "ru": "Russian", "sv": "Swedish", "th": "Thai", "tr": "Turkish", "zh": "Chinese"},
}


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


def language_remarks(languages: Iterable[str], known: Collection[str] | None) -> list[str]:
    """One sentence on documents in languages that a model was not trained on; `known` is None if nobody can tell.

    >>> language_remarks(["en", "zh", "ru", "zh"], {"en"})
    ['The model was trained on English: documents in Chinese and Russian are matched by words more than by meaning.']
    >>> language_remarks(["sv"], {"de", "en"})
    ['The model was trained on English and German: documents in Swedish may be matched poorly.']
    >>> language_remarks(["en"], {"en"}), language_remarks(["zh"], None)
    ([], [])
    """
    foreign = sorted({_LANGUAGES.get(code, code) for code in languages if known is not None and code not in known})
    if not foreign:
        return []
    trained_on = _listed(sorted(_LANGUAGES.get(code, code) for code in known or ()))
    alone = len(known or ()) == 1  # then words stand in for meaning
    matched = "are matched by words more than by meaning" if alone else "may be matched poorly"
    return [f"The model was trained on {trained_on}: documents in {_listed(foreign)} {matched}."]


def ordered_by_both(first: str, second: str) -> str:
    """Whose order it is that two models make together.

    >>> ordered_by_both("default", "cross")
    'Ordered by default and cross together.'
    """
    return f"Ordered by {first} and {second} together."


def left_out(key: str, lacking: int, documents: int) -> str:
    """One sentence on documents that a condition cannot judge.

    >>> left_out("year", 12, 40), left_out("year", 1, 40)
    ('12 of 40 documents have no year and were left out.', '1 of 40 documents has no year and was left out.')
    """
    have, were = ("has", "was") if lacking == 1 else ("have", "were")
    return f"{lacking:,} of {count(documents, 'document')} {have} no {key} and {were} left out."


def none_matches(where: str, absent: Sequence[str], place: str = "") -> str:
    """One sentence where no document matches a condition; `absent` are the keys that no document has.

    >>> none_matches("yeer > 2019", ["yeer"], "papers")
    'No document of papers has a value for yeer, so none matches the condition yeer > 2019'
    >>> none_matches("year > 2019", [])
    'No document matches the condition year > 2019'
    """
    documents = f"No document of {place}" if place else "No document"
    if absent:
        return f"{documents} has a value for {' or '.join(absent)}, so none matches the condition {where}"
    return f"{documents} matches the condition {where}"


def _listed(words: Sequence[str]) -> str:
    """Words as a sentence lists them."""
    return " and ".join(filter(None, [", ".join(words[:-1]), *words[-1:]]))


def shared_text(match: Match) -> list[str]:
    """Sentences on the text that stands in both documents; none where there is none."""
    reuse, relation = match.reuse, match.relation
    if relation == "copy":
        left_out = _listed(list(reuse.not_compared))
        missing = f" The {left_out} of one are not compared: the file of the other can give none." if left_out else ""
        return [f"The two are copies: their visible characters are the same.{missing}"]
    if relation in ONE_WORDING:
        revision = match.revision
        kept = revision.words("same") + revision.words("moved")
        own, other = (kept / max(1, kept + revision.words(changed)) for changed in ("removed", "added"))
        parts = f"{percent(own)} of A stands unchanged in B, {percent(other)} of B in A"
        return [f"{_one_wording(reuse)}: {parts}.", revision_summary(revision)]
    return [sentence for sentence in (_reused(reuse), _common(reuse)) if sentence]


def _one_wording(reuse: Reuse) -> str:
    """What two documents are that share most of their words."""
    if reuse.relation == "template":
        return "The two follow one template, with other dates, amounts and numbers"
    if reuse.may_be_template:
        return "The two are versions of one text, or documents of one template"
    return "The two are versions of one text"


def _reused(reuse: Reuse) -> str:
    if not reuse.reused_a:
        return ""
    shares = f"{percent(reuse.share_a)} of A ({count(reuse.reused_a, reuse.unit)})"
    return f"{shares} stands {how_exactly(reuse.unchanged, reuse.unit)} in B, where it is {percent(reuse.share_b)}."


def _common(reuse: Reuse) -> str:
    if not reuse.common_a:
        return ""
    also = "A further " if reuse.reused_a else ""
    return f"{also}{count(reuse.common_a, reuse.unit)} of A stand in B and in many documents of the collection."


def how_exactly(unchanged: float, unit: str = "word") -> str:
    """How a passage stands in another document, by the share of its words, or characters, that are the same.

    >>> how_exactly(1.0), how_exactly(0.9)
    ('word for word', 'nearly word for word')
    """
    return f"{'' if unchanged == 1 else 'nearly '}{unit} for {unit}"


def revision_summary(revision: Revision) -> str:
    """One sentence on how many words changed between two versions."""
    changes = [f"{count(number, 'word')} {name}" for name in _CHANGES if (number := revision.words(name))]
    counted = f"From A to B: {_listed(changes)}." if changes else "No word was added, removed or moved."
    titles = f"The title “{revision.titles[0]}” became “{revision.titles[1]}”." if revision.titles else ""
    return " ".join(filter(None, [counted, titles, *_moved_sections(revision), _changed_cells(revision)]))


def _changed_cells(revision: Revision) -> str:
    """One sentence on the tables that differ; empty where none does."""
    changed = sum(len(table.cells) for table in revision.tables)
    return f"{count(changed, 'cell')} differ{'s' if changed == 1 else ''} in tables." if changed else ""


def _moved_sections(revision: Revision) -> list[str]:
    """A sentence for each section that moved; of many, for the longest."""
    moved = [section for section in revision.sections if section.status == "moved"]
    longest = sorted(moved, key=lambda section: -section.moved)[:_MOVES]
    sentences = [
        f"“{section.was[0] if section.was else label(section.heading, section.opening)}” {section_status(section)}."
        for section in moved
        if section in longest
    ]
    rest = len(moved) - len(sentences)
    return [*sentences, f"{count(rest, 'more section')} moved."] if rest else sentences


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
    return f"Based on {_listed(named)}."


def both_name(match: Match) -> str:
    """One sentence on the documents that both mention; empty where there are none."""
    listed = [f"“{' '.join(name.split())}”" for name in match.names]
    if len(listed) > 1:
        listed = [f"{', '.join(listed[:-1])} and {listed[-1]}"]
    return f"Both mention {listed[0]}." if listed else ""


def unread(match: Match) -> list[str]:
    """A sentence for each document that was read only in part."""
    sides = ((match.a, match.coverage.a), (match.b, match.coverage.b))
    return [f"Only {percent(read)} of “{document.title}” was read." for document, read in sides if read < 0.9995]


def facts(document: Document) -> str:
    """A document's size in a few words.

    >>> facts(Document("a", "A", "", (), "de"))
    '0 words, 0 sections, German'
    """
    language = _LANGUAGES.get(document.language, document.language)
    return f"{count(document.words, 'word')}, {count(len(document.sections), 'section')}, {language}"


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


def count(number: int, noun: str) -> str:
    """A number and its noun.

    >>> count(1, "section"), count(2000, "word")
    ('1 section', '2,000 words')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def label(heading: str, opening: str, words: int = 6) -> str:
    """What to call a section: its heading, else its first words in quotation marks.

    >>> label("", "It rained all day in the valley, and we stayed in.")
    '“It rained all day in the …”'
    """
    if heading.strip():
        return " ".join(heading.split())
    first = opening.split()
    return f"“{' '.join(first[:words])}{' …' if len(first) > words else ''}”" if first else "(no heading)"
