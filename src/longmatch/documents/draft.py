"""What a reader produces: text and blocks. `Draft.document` turns it into a Document with sentences."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from typing import Any, Literal, cast

from longmatch.documents.decoding import whole, whole_values
from longmatch.documents.document import Document, Kind, Paragraph, Section, Sentence, Span
from longmatch.documents.language import count_words, detect_language
from longmatch.documents.paragraph_kinds import is_reference_heading

_PARAGRAPH_NUMBER = re.compile(r"(?:\[(\d{1,4})\]|\((\d{1,4})\)|(\d{1,4})[.)]?)\s+[\"'“‘«(\[]*[^\W\d_]")
_MARK = re.compile(r"\n *(\d{1,4})[.)] +\Z")
_LONGEST_MARK = 16  # characters
_MAX_GAP = 5  # numbers that may be missing between two paragraphs
_MIN_NUMBERED = 8  # paragraphs of a sequence; a shorter one is a list
FULL_GROUP = 800  # words from which a group is complete
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


@dataclass(frozen=True, slots=True)
class Block(Span):
    """A heading or a paragraph found by a reader."""

    kind: Kind | Literal["heading"] = "text"
    level: int = 1  # of a heading
    page: int | None = None
    label: str = ""  # of a heading whose characters include markup: its text without it


@dataclass
class Draft:
    """A document before sentence splitting.

    Readers of plain formats set `text` to the file itself and point blocks into it. Readers of rich formats build
    the text incrementally with `heading` and `paragraph`.

    >>> draft = Draft()
    >>> draft.heading("1 Introduction")
    >>> draft.paragraph("We match documents. They are long.")
    >>> document = draft.document("a")
    >>> [(s.heading, len(s.paragraphs[0].sentences)) for s in document.sections]
    [('1 Introduction', 2)]
    """

    text: str = ""
    blocks: list[Block] = field(default_factory=list)
    title: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    plain: str = ""  # the text with markup blanked, character for character; empty if the format has no markup
    page_breaks: list[tuple[int, int]] = field(default_factory=list)  # as of a Document
    remarks: list[str] = field(default_factory=list)  # sentences on what could not be read, or not surely
    _parts: list[str] = field(default_factory=list, repr=False)
    _length: int = field(default=0, repr=False)

    def heading(self, text: str, level: int = 1, page: int | None = None) -> None:
        """Append a heading."""
        self._append(text, "heading", level, page)

    def paragraph(
        self, text: str, kind: Kind = "text", page: int | None = None, breaks: Sequence[tuple[int, int]] = ()
    ) -> None:
        """Append a paragraph; `breaks` says where in it further pages begin: character of `text`, page."""
        before = len(self.blocks)
        self._append(text, kind, 1, page)
        if breaks and len(self.blocks) > before:
            start = self.blocks[-1].start - (len(text) - len(text.lstrip()))
            self.page_breaks += [(start + place, number) for place, number in breaks]

    def extend(self, other: "Draft") -> None:
        """Append the blocks of another draft."""
        text = other.text or "".join(other._parts)
        for block in other.blocks:
            self._append(block.of(text), block.kind, block.level, block.page)

    def _append(self, text: str, kind: Kind | Literal["heading"], level: int, page: int | None) -> None:
        text = text.strip()
        if not text:
            return
        if self._parts:
            self._parts.append("\n\n")
            self._length += 2
        self.blocks.append(Block(self._length, self._length + len(text), kind, level, page))
        self._parts.append(text)
        self._length += len(text)

    def document(self, id: str, title: str = "", source: str = "", given_sections: bool = False) -> Document:
        """Split the blocks into sentences and group them under their headings.

        The title defaults to the draft's own, then to the first heading, then to `id`. Long sections of numbered
        paragraphs are divided, unless the file itself says what its sections are (`given_sections`).
        """
        if self._parts:
            self.text = "".join(self._parts)
        self.text, self.plain, id = whole(self.text), whole(self.plain), whole(id)
        language = detect_language(self.text)
        sections = tuple(_sections(self.text, self.plain or self.text, self.blocks, language))
        fallback = next((s.heading for s in sections if s.heading), id)
        if not given_sections:
            sections = tuple(divide_sections(sections, self.plain or self.text))
        name, metadata = whole(title or self.title or fallback), whole_values(self.metadata)
        breaks, remarks = tuple(self.page_breaks), tuple(self.remarks)
        return Document(id, name, self.text, sections, language, source, metadata, self.plain, breaks, remarks)


def _sections(text: str, plain: str, blocks: list[Block], language: str) -> Iterable[Section]:
    if not blocks:
        return
    headings = [i for i, block in enumerate(blocks) if block.kind == "heading"]
    starts = headings if headings[:1] == [0] else [0, *headings]  # text before the first heading is a section too
    for first, last in pairwise([*starts, len(blocks)]):
        heading = blocks[first] if blocks[first].kind == "heading" else None
        body = blocks[first + 1 : last] if heading else blocks[first:last]
        name = " ".join((heading.label or heading.of(text)).split()) if heading else ""
        in_references = is_reference_heading(name)
        paragraphs = []
        for block in body:
            sentences = tuple(split_sentences(plain, block, language))
            kind = "reference" if in_references and block.kind == "text" else cast(Kind, block.kind)
            paragraphs.append(Paragraph(block.start, block.end, sentences, kind, block.page))
        level = heading.level if heading else 1
        yield Section(blocks[first].start, blocks[last - 1].end, name, level, tuple(paragraphs))


def split_sentences(text: str, span: Span, language: str = "en") -> Iterator[Sentence]:
    """Yield the sentences of text[span] without surrounding white space. A line break alone does not end a sentence.

    >>> text = "Dr. Smith came, cf. Fig. 3. He left."
    >>> [s.of(text) for s in split_sentences(text, Span(0, len(text)))]
    ['Dr. Smith came, cf. Fig. 3.', 'He left.']
    """
    paragraph = span.of(text)
    start = end = 0
    has_letters = False  # from start to end; kept up to date, as pieces without any may be joined by the thousand
    for begin, stop in _pieces(paragraph, language):
        following = paragraph[begin:stop]
        if has_letters and not _is_split_inside(paragraph, start, end, begin, following, language):
            yield from _stripped(paragraph, start, end, span.start)
            start, has_letters = begin, False
        end = stop
        has_letters = has_letters or any(map(str.isalpha, following))
    yield from _stripped(paragraph, start, max(end, len(paragraph)), span.start)


def _pieces(paragraph: str, language: str) -> Iterable[tuple[int, int]]:
    """Where the pieces begin and end into which the splitter cuts a paragraph."""
    from sentencex import get_sentence_boundaries, segment

    pieces = segment(language, paragraph)  # in half the time that their places take
    if "".join(pieces) == paragraph:
        return pairwise(accumulate(map(len, pieces), initial=0))
    return [(piece["start_index"], piece["end_index"]) for piece in get_sentence_boundaries(language, paragraph)]


def _is_split_inside(paragraph: str, start: int, end: int, begin: int, following: str, language: str) -> bool:
    """Whether the splitter split inside a sentence: after an abbreviation or a number, or before mere punctuation."""
    if not any(map(str.isalnum, following)):
        return True
    tail = paragraph[max(start, end - _CONTEXT) : end].rstrip()
    ahead = paragraph[begin : begin + _CONTEXT].lstrip()
    if ahead[:1].islower() and (_DOTTED.search(tail) or not _STOP.search(tail)):
        return True
    if not tail.endswith("."):
        return False
    if _NEVER_LAST.search(tail) or (language == "fr" and _FRENCH_TITLE.search(tail)):
        return True
    return bool(_NUMBER.match(ahead) and _BEFORE_NUMBER.search(tail))


def _stripped(paragraph: str, start: int, end: int, offset: int) -> Iterator[Sentence]:
    sentence = paragraph[start:end].rstrip()
    end = start + len(sentence)
    start = end - len(sentence.lstrip())
    if end > start:
        yield Sentence(offset + start, offset + end)


def divide_sections(sections: Iterable[Section], text: str) -> Iterator[Section]:
    """Divide each section that is long and mostly numbered paragraphs; the groups are one level below it.

    A group has no heading in the text, so it is called after its paragraphs ("Paragraphs 12–19").
    """
    for section in sections:
        groups = _groups(section, text)
        if not groups:
            yield section
            continue
        first = groups[0].start
        lead = tuple(paragraph for paragraph in section.paragraphs if paragraph.start < first)
        if lead or section.heading:
            end = lead[-1].end if lead else min(first, section.start + len(section.heading))
            yield Section(section.start, end, section.heading, section.level, lead)
        yield from groups


def _groups(section: Section, text: str) -> list[Section]:
    paragraphs = section.paragraphs
    if len(paragraphs) < _MIN_NUMBERED:
        return []
    numbered = _sequence([_number(paragraph, text) for paragraph in paragraphs])
    if len(numbered) < _MIN_NUMBERED:
        return []
    words = [count_words(paragraph.of(text)) for paragraph in paragraphs]
    first = min(numbered)
    if sum(words) < 2 * FULL_GROUP or 2 * sum(words[first:]) < sum(words):
        return []
    # A numbered paragraph begins a group as soon as the group before is complete
    starts, filled, remaining = [first], 0, sum(words[first:])
    for here, after in pairwise([*sorted(numbered), len(words)]):
        if filled >= FULL_GROUP and remaining >= FULL_GROUP / 2:
            starts.append(here)
            filled = 0
        size = sum(words[here:after])
        filled, remaining = filled + size, remaining - size
    groups = []
    for begin, end in pairwise([*starts, len(paragraphs)]):
        own, numbers = paragraphs[begin:end], [numbered[i] for i in range(begin, end) if i in numbered]
        name = f"Paragraphs {numbers[0]}–{numbers[-1]}" if len(numbers) > 1 else f"Paragraph {numbers[0]}"
        groups.append(Section(own[0].start, own[-1].end, name, section.level + 1, own))
    return groups


def _number(paragraph: Paragraph, text: str) -> int | None:
    """The number that a paragraph begins with, or that stands before it as the mark of a list item in Markdown."""
    if paragraph.kind != "text":
        return None
    match = _PARAGRAPH_NUMBER.match(text, paragraph.start, paragraph.end)
    if match is None:
        mark = _MARK.search(text, max(0, paragraph.start - _LONGEST_MARK), paragraph.start)
        return int(mark[1]) if mark else None
    return int(match[1] or match[2] or match[3])


def _sequence(numbers: Sequence[int | None]) -> dict[int, int]:
    """The longest run of increasing numbers with small gaps, as {place: number}; lists within are left out.

    >>> _sequence([7, None, 8, 1, 2, 9, 12])
    {0: 7, 2: 8, 5: 9, 6: 12}
    """
    last: dict[int, tuple[int, int]] = {}  # by number: length of the longest run that ends with it, and its place
    before: dict[int, int] = {}
    lengths: dict[int, int] = {}
    for place, number in enumerate(numbers):
        if number is None:
            continue
        earlier = [last[n] for n in range(number - _MAX_GAP - 1, number) if n in last]
        length, previous = max(earlier, default=(0, -1))
        before[place], lengths[place] = previous, length + 1
        if length + 1 > last.get(number, (0, 0))[0]:
            last[number] = length + 1, place
    found: dict[int, int] = {}
    place = max(lengths, key=lambda p: lengths[p], default=-1)
    while place >= 0:
        number = numbers[place]
        assert number is not None
        found[place] = number
        place = before[place]
    return dict(sorted(found.items()))
