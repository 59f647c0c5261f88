"""Long sections of numbered paragraphs, as in judgments, divided into groups of paragraphs that serve as sections."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from longmatch.documents.document import Paragraph, Section
from longmatch.documents.language import count_words

_NUMBER = re.compile(r"(?:\[(\d{1,4})\]|\((\d{1,4})\)|(\d{1,4})[.)]?)\s+[\"'“‘«(\[]*[^\W\d_]")
_MARK = re.compile(r"\n *(\d{1,4})[.)] +\Z")
_LONGEST_MARK = 16  # characters
_MAX_GAP = 5  # numbers that may be missing between two paragraphs
_MIN_NUMBERED = 8  # paragraphs of a sequence; a shorter one is a list
FULL_GROUP = 800  # words from which a group is complete


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
    starts = _starts(sorted(numbered), words)
    return [
        _group(section, paragraphs[begin:end], [numbered[i] for i in range(begin, end) if i in numbered])
        for begin, end in pairwise([*starts, len(paragraphs)])
    ]


def _group(section: Section, paragraphs: Sequence[Paragraph], numbers: Sequence[int]) -> Section:
    name = f"Paragraphs {numbers[0]}–{numbers[-1]}" if len(numbers) > 1 else f"Paragraph {numbers[0]}"
    return Section(paragraphs[0].start, paragraphs[-1].end, name, section.level + 1, tuple(paragraphs))


def _number(paragraph: Paragraph, text: str) -> int | None:
    """The number that a paragraph begins with, or that stands before it as the mark of a list item in Markdown."""
    if paragraph.kind != "text":
        return None
    match = _NUMBER.match(text, paragraph.start, paragraph.end)
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


def _starts(numbered: Sequence[int], words: Sequence[int]) -> list[int]:
    """The paragraphs that begin a group: a numbered one as soon as the group before is complete."""
    starts, filled, remaining = [numbered[0]], 0, sum(words[numbered[0] :])
    for here, after in pairwise([*numbered, len(words)]):
        if filled >= FULL_GROUP and remaining >= FULL_GROUP / 2:
            starts.append(here)
            filled = 0
        size = sum(words[here:after])
        filled, remaining = filled + size, remaining - size
    return starts
