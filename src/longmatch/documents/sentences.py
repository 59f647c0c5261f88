"""Sentence splitting with spans, for the many languages sentencex knows."""

import re
from collections.abc import Iterator

from longmatch.documents.document import Sentence, Span

_NEVER_LAST = re.compile(  # abbreviations that something always follows
    r"(?:^|[\s(\[„“\"'’])(?:e\.\s?g|i\.\s?e|cf|viz|vs|vgl|z\.\s?B|d\.\s?h|u\.\s?a|sog|bzw|gem|p\.\s?ex|c\.-à-d|см|т\.\s?е|напр|"
    r"Mr|Mrs|Ms|Dr|Prof|St|Mme|Mlle|Sr|Sra|Hr|Fr|Rev|Hon|Gen|Col|approx|resp|incl)\.$"
)
_BEFORE_NUMBER = re.compile(  # abbreviations that end no sentence when a number follows
    r"(?:^|[\s(\[„“\"'’])(?:figs?|eqs?|eqns?|secs?|sect|chs?|chap|nos?|nrs?|nr|núm|arts?|paras?|pars?|abs|cl|vols?|pp?|pg|pág|"
    r"tabs?|tabl|abb|kap|bd|rn|rdnr|ziff|refs?|app|appx|thms?|defs?|lem|props?|cor|algs?|exs?|lines?|ll?|al|рис|табл|стр|"
    r"ст|гл|пп?|§|ca|c|op|ed|ser|ss|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)\.$",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"[(\[§#]*(?:\d|[IVXLC]+\b)")
_SURNAME_NEXT = re.compile(r"(?:^|[\s(])MM?\.$")  # French: M. Dupont
_STOP = re.compile(r"[^\w\s,;\])}]\W*$")
_DOTTED = re.compile(r"\w\.\s?\w\.$")  # o.a., m.w.N.
_TAIL = 24  # characters of a sentence's end that are looked at


def split_sentences(text: str, span: Span, language: str = "en") -> Iterator[Sentence]:
    """The sentences of text[span], without the white space around them. A line's end alone ends no sentence.

    >>> text = "Dr. Smith came, cf. Fig. 3. He left."
    >>> [s.of(text) for s in split_sentences(text, Span(0, len(text)))]
    ['Dr. Smith came, cf. Fig. 3.', 'He left.']
    """
    from sentencex import get_sentence_boundaries

    piece = span.of(text)
    start = end = 0
    for found in get_sentence_boundaries(language, piece):
        here, after = found["start_index"], found["end_index"]
        if end > start and not _goes_on(piece, Span(start, end), Span(here, after), language):
            yield from _stripped(piece, start, end, span.start)
            start = here
        end = after
    yield from _stripped(piece, start, max(end, len(piece)), span.start)


def _goes_on(piece: str, before: Span, after: Span, language: str) -> bool:
    """Whether the splitter cut inside a sentence: after an abbreviation or a number, or before mere punctuation."""
    if not any(map(str.isalpha, before.of(piece))) or not any(map(str.isalnum, after.of(piece))):
        return True
    tail = piece[max(before.start, before.end - _TAIL) : before.end].rstrip()
    following = piece[after.start : after.start + _TAIL].lstrip()
    if following[:1].islower() and (_DOTTED.search(tail) or not _STOP.search(tail)):
        return True
    if not tail.endswith("."):
        return False
    if _NEVER_LAST.search(tail) or (language == "fr" and _SURNAME_NEXT.search(tail)):
        return True
    return bool(_BEFORE_NUMBER.search(tail) and _NUMBER.match(following))


def _stripped(piece: str, start: int, end: int, offset: int) -> Iterator[Sentence]:
    raw = piece[start:end]
    kept = raw.strip()
    if kept:
        start += offset + len(raw) - len(raw.lstrip())
        yield Sentence(start, start + len(kept))
