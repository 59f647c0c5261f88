"""Plain text: the document's text is the file itself, and every block is a span of it."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from statistics import median

from longmatch.documents import text_headings as headings
from longmatch.documents.decoding import read_text
from longmatch.documents.document import Span
from longmatch.documents.draft import Block, Draft
from longmatch.documents.paragraph_kinds import is_caption
from longmatch.documents.spans import line_spans, strip_span

_SENTENCE_END = re.compile(r"[.!?。！？…][\"'”’»)\]」』]*$")
_ITEM = re.compile(r"\s*(?:([-*•·–])|\(?(?:\d{1,3}|[a-z])([.)]))\s+\S")
_INDENT = re.compile(r" {2,}|\t|\u3000")
_LONG_LINE = 150  # characters: text with longer lines is not hard-wrapped
_MAX_TITLE_LINES = 3
_MIN_PROSE = 80  # characters of a paragraph below a plain heading

Lines = list[Span]  # consecutive lines without a blank line between them


def read_plain(path: Path) -> Draft:
    """Read a text file."""
    return draft_text(read_text(path))


def draft_text(text: str) -> Draft:
    r"""Headings and paragraphs of a plain text: paragraphs at blank lines, hard-wrapped lines kept together.

    >>> draft = draft_text("On Rain\n\n1. Why it falls\n\nDrops grow heavy\nand fall.\n")
    >>> draft.title, [(b.kind, b.of(draft.text)) for b in draft.blocks[1:]]
    ('On Rain', [('heading', '1. Why it falls'), ('text', 'Drops grow heavy\nand fall.')])
    """
    runs = _unbroken_runs(text)
    draft = Draft(text=text)
    unwrapped = _is_unwrapped(text, runs)
    paragraphs = [paragraph for run in runs for paragraph in _split_run(text, run, unwrapped)]
    if not paragraphs:
        return draft
    levels = _heading_levels(text, paragraphs)
    title = _title_lines(text, paragraphs[0])
    for lines, level in zip(paragraphs, levels, strict=True):
        if level:
            heading = title if lines is paragraphs[0] and title else _without_underline(text, lines)
            label = headings.join_title([line.of(text) for line in heading])
            draft.blocks.append(Block(heading[0].start, heading[-1].end, "heading", level, label=label))
            continue
        span = Span(lines[0].start, lines[-1].end)
        draft.blocks.append(Block(span.start, span.end, "caption" if is_caption(span.of(text)) else "text"))
    draft.title = draft.blocks[0].label if levels[0] else _shorten(paragraphs[0][0].of(text))
    return draft


def _title_lines(text: str, lines: Lines) -> Lines:
    """The lines of the first paragraph, if they are a title that is broken over all of them; else none."""
    texts = [line.of(text) for line in lines]
    broken = 1 < len(lines) <= _MAX_TITLE_LINES and all(headings.goes_on(*pair) for pair in pairwise(texts))
    return lines if broken and headings.is_title(headings.join_title(texts)) else []


def _without_underline(text: str, lines: Lines) -> Lines:
    return lines[:-1] if len(lines) > 1 and headings.underline_level(lines[-1].of(text)) else lines


def _shorten(line: str) -> str:
    """A line as a title; a long one is cut after its first words."""
    if len(line) <= 150:
        return " ".join(line.split())
    return " ".join(line[:100].split(" ")[:-1] or [line[:100]]) + "…"


def _unbroken_runs(text: str) -> list[Lines]:
    """The lines of a text, grouped at blank lines."""
    runs: list[Lines] = [[]]
    for line in line_spans(text):
        stripped = strip_span(text, line.start, line.end)
        if stripped.start < stripped.end:
            runs[-1].append(stripped)
        elif runs[-1]:
            runs.append([])
    return [run for run in runs if run]


def _is_unwrapped(text: str, runs: Sequence[Lines]) -> bool:
    """Whether each line is a paragraph: lines are long, or end like sentences with no blank line in the text."""
    lines = [line for run in runs for line in run]
    if lines and median(line.end - line.start for line in lines) > _LONG_LINE:
        return True
    if len(runs) > 1:
        return False
    ended = sum(bool(_SENTENCE_END.search(line.of(text)[-5:])) for line in lines[:-1])
    return 2 * ended > len(lines) - 1


def _split_run(text: str, run: Lines, unwrapped: bool) -> Iterator[Lines]:
    """Split a run of lines into paragraphs: at underlined headings, list items and indented first lines."""
    markers = [match[1] or match[2] if (match := _ITEM.match(line.of(text))) else None for line in run]
    repeated = {marker for marker, count in Counter(markers).items() if marker and count > 1}
    paragraph: Lines = []
    for index, line in enumerate(run):
        if headings.underline_level(line.of(text)):
            if len(paragraph) == 1 and len(paragraph[0].of(text)) <= headings.MAX_LENGTH:
                yield [paragraph[0], line]  # a heading and its underline
            elif paragraph:
                yield paragraph
            paragraph = []
            continue
        if paragraph and (
            unwrapped
            or markers[index] in repeated
            or (not repeated and _is_indented(text, run, index))
            or (index == 1 and _starts_with_heading(text, run))
            or _is_above_text(text, run, index)
            or _is_above_text(text, run, index - 1)
            or (index + 1 < len(run) and headings.underline_level(run[index + 1].of(text)))
        ):
            yield paragraph
            paragraph = []
        paragraph.append(line)
    if paragraph:
        yield paragraph


def _is_indented(text: str, run: Lines, index: int) -> bool:
    """Whether a line is a first line indented more than the line before (a full-width space always starts one)."""
    indent, indent_above = (
        _INDENT.search(text[max(0, line.start - 8) : line.start].rpartition("\n")[2])
        for line in (run[index], run[index - 1])
    )
    return indent is not None and (indent_above is None or indent[0] == "\u3000")


def _starts_with_heading(text: str, run: Lines) -> bool:
    """Whether the first line of a run is a heading with its paragraph directly below it."""
    first, second = run[0].of(text), run[1].of(text)
    if not (headings.numbered_level(first) or headings.is_capitals(first)):
        return False
    return len(first) <= headings.MAX_PLAIN_LENGTH and len(second) > len(first) and not second[0].islower()


def _is_above_text(text: str, run: Lines, index: int) -> bool:
    """Whether a line is a word like "Abstract" with a longer line directly below it."""
    if index + 1 >= len(run):
        return False
    line, below = run[index].of(text), run[index + 1].of(text)
    return line[:1].isupper() and headings.is_standard_heading(line) and len(below) > 2 * len(line)


def _heading_levels(text: str, paragraphs: Sequence[Lines]) -> list[int]:
    """The level of each heading, 0 for each paragraph of text."""
    single = [_single_line(text, lines) for lines in paragraphs]
    marked = [_marked_level(text, lines) for lines in paragraphs]
    levels = list(marked)
    numbers = [headings.item_number(line) for line in single]
    for here, after in pairwise(range(len(paragraphs))):  # consecutively numbered lines are a list
        number = numbers[here]
        if number is not None and numbers[after] == number + 1 and marked[after] == marked[here]:
            levels[here] = levels[after] = 0
    plain_level = 2 if any(levels) else 1
    _drop_nested_items(levels, single)
    for here, after in pairwise(range(len(paragraphs))):
        if not levels[here] and not levels[after] and headings.is_plain_heading(single[here]):
            following = Span(paragraphs[after][0].start, paragraphs[after][-1].end).of(text)
            before_prose = len(following) >= _MIN_PROSE and _SENTENCE_END.search(following[-5:])
            if before_prose or headings.is_standard_heading(single[here]):
                levels[here] = plain_level
    titled = _title_lines(text, paragraphs[0]) or (single[0] and headings.is_title(single[0]))
    if len(paragraphs) > 1 and not levels[0] and titled:
        levels[0] = 1
    for last in reversed(range(len(paragraphs))):  # a heading needs text below it
        if not levels[last]:
            break
        levels[last] = 0
    return levels


def _drop_nested_items(levels: list[int], lines: Sequence[str]) -> None:
    """Take back the headings that are items of a list within a numbered section."""
    places = [place for place, level in enumerate(levels) if level == 1]
    for item in headings.nested_items([headings.item_number(lines[place]) for place in places]):
        levels[places[item]] = 0


def _marked_level(text: str, lines: Lines) -> int:
    """The level of a heading marked by an underline, a number or capitals, 0 for other lines."""
    if len(lines) == 2 and (level := headings.underline_level(lines[1].of(text))):
        return level
    line = _single_line(text, lines)
    return headings.numbered_level(line) or int(headings.is_capitals(line)) if line else 0


def _single_line(text: str, lines: Lines) -> str:
    """A paragraph of one line, or of two that a heading's word is broken over; empty for others."""
    texts = [line.of(text) for line in lines]
    if len(texts) == 2 and headings.breaks_word(*texts):
        return headings.join_title(texts)
    return texts[0] if len(texts) == 1 else ""
