"""Sentence splitting with spans, for the languages sentencex supports."""

import re
from collections.abc import Iterator

from longmatch.documents.document import Sentence, Span
from longmatch.documents.spans import strip_span

_NEVER_LAST = re.compile(  # abbreviations that never end a sentence
    r"(?:^|[\s(\[„“\"'’])(?:e\.\s?g|i\.\s?e|cf|viz|vs|vgl|z\.\s?B|d\.\s?h|u\.\s?a|sog|bzw|gem|p\.\s?ex|c\.-à-d|см|т\.\s?е|напр|"
    r"Mr|Mrs|Ms|Dr|Prof|St|Mme|Mlle|Sr|Sra|Hr|Fr|Rev|Hon|Gen|Col|approx|resp|incl)\.$"
)
_BEFORE_NUMBER = re.compile(  # abbreviations that do not end a sentence before a number
    r"(?:^|[\s(\[„“\"'’])(?:figs?|eqs?|eqns?|secs?|sect|chs?|chap|nos?|nrs?|nr|núm|arts?|paras?|pars?|abs|cl|vols?|pp?|pg|pág|"
    r"tabs?|tabl|abb|kap|bd|rn|rdnr|ziff|refs?|app|appx|thms?|defs?|lem|props?|cor|algs?|exs?|lines?|ll?|al|рис|табл|стр|"
    r"ст|гл|пп?|§|ca|c|op|ed|ser|ss|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)\.$",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"[(\[§#]*(?:\d|[IVXLC]+\b)")
_FRENCH_TITLE = re.compile(r"(?:^|[\s(])MM?\.$")  # M. Dupont
_STOP = re.compile(r"(?<!\W)(?=\W*+$)\W*[^\w\s,;\])}]")
_DOTTED = re.compile(r"\w\.\s?\w\.$")  # o.a., m.w.N.
_CONTEXT = 24  # characters examined on either side of a boundary


def split_sentences(text: str, span: Span, language: str = "en") -> Iterator[Sentence]:
    """Yield the sentences of text[span] without surrounding white space. A line break alone does not end a sentence.

    >>> text = "Dr. Smith came, cf. Fig. 3. He left."
    >>> [s.of(text) for s in split_sentences(text, Span(0, len(text)))]
    ['Dr. Smith came, cf. Fig. 3.', 'He left.']
    """
    from sentencex import get_sentence_boundaries

    paragraph = span.of(text)
    start = end = 0
    has_letters = False  # from start to end; kept up to date, as pieces without any may be joined by the thousand
    for boundary in get_sentence_boundaries(language, paragraph):
        following = Span(boundary["start_index"], boundary["end_index"])
        if has_letters and not _is_split_inside(paragraph, Span(start, end), following, language):
            yield from _stripped(paragraph, start, end, span.start)
            start, has_letters = following.start, False
        end = following.end
        has_letters = has_letters or any(map(str.isalpha, following.of(paragraph)))
    yield from _stripped(paragraph, start, max(end, len(paragraph)), span.start)


def _is_split_inside(paragraph: str, before: Span, after: Span, language: str) -> bool:
    """Whether the splitter split inside a sentence: after an abbreviation or a number, or before mere punctuation."""
    if not any(map(str.isalnum, after.of(paragraph))):
        return True
    tail = paragraph[max(before.start, before.end - _CONTEXT) : before.end].rstrip()
    following = paragraph[after.start : after.start + _CONTEXT].lstrip()
    if following[:1].islower() and (_DOTTED.search(tail) or not _STOP.search(tail)):
        return True
    if not tail.endswith("."):
        return False
    if _NEVER_LAST.search(tail) or (language == "fr" and _FRENCH_TITLE.search(tail)):
        return True
    return bool(_BEFORE_NUMBER.search(tail) and _NUMBER.match(following))


def _stripped(paragraph: str, start: int, end: int, offset: int) -> Iterator[Sentence]:
    span = strip_span(paragraph, start, end)
    if span.end > span.start:
        yield Sentence(offset + span.start, offset + span.end)
