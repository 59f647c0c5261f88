"""Finding shared words in a passage, and cutting a text where highlights begin and end."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from longmatch.documents.document import Span


@dataclass(frozen=True, slots=True)
class Run:
    """A stretch of text and the passages (by number) it belongs to; none where nothing is aligned."""

    text: str
    passages: tuple[int, ...] = ()


def mark_words(text: str, words: Iterable[str]) -> list[tuple[str, bool]]:
    """Cut a text into pieces, each with whether it is one of the words; case and spacing do not matter.

    >>> mark_words("The Clay was wet.", ["clay"])
    [('The ', False), ('Clay', True), (' was wet.', False)]
    """
    text = " ".join(text.split())
    patterns = [_pattern(word) for word in sorted(set(words), key=len, reverse=True) if word.strip()]
    if not patterns:
        return [(text, False)] if text else []
    pieces = re.split(f"({'|'.join(patterns)})", text, flags=re.IGNORECASE)
    return [(piece, at % 2 == 1) for at, piece in enumerate(pieces) if piece]


def mark_spans(text: str, whole: Span, marked: Iterable[Span], most: int) -> list[tuple[str, bool]]:
    """Cut part of a text into pieces, each with whether it is one of the spans in it; after `most` characters it ends.

    >>> mark_spans("one two three four", Span(0, 13), [Span(0, 3), Span(8, 13)], 100)
    [('one', True), (' two ', False), ('three', True)]
    """
    end = min(whole.end, whole.start + most)
    pieces, at = [], whole.start
    for span in marked:
        for place, is_marked in ((span.start, False), (span.end, True)):
            if at < min(place, end):
                pieces.append((text[at : min(place, end)], is_marked))
                at = min(place, end)
    return [*pieces, (" …", True)] if end < whole.end else pieces


def _pattern(word: str) -> str:
    """A word or phrase as a whole; Chinese and Japanese characters need no space around them."""
    body = r"[\W_]+".join(re.escape(part) for part in word.split())
    spaced = not re.search(r"[\u3040-\u30ff\u3400-\u9fff]", word)
    return rf"(?<!\w){body}(?!\w)" if spaced else body


def cut(text: str, blocks: Sequence[Span], passages: Sequence[Span]) -> Iterator[list[Run]]:
    """Cut each block (in order, apart from one another) where passages begin and end; passages may overlap.

    >>> [[(run.text, run.passages) for run in runs] for runs in cut("abcdef", [Span(0, 6)], [Span(1, 4), Span(3, 5)])]
    [[('a', ()), ('bc', (0,)), ('d', (0, 1)), ('e', (1,)), ('f', ())]]
    """
    filled = (number for number, span in enumerate(passages) if span.end > span.start)
    waiting = sorted(filled, key=lambda number: passages[number].start, reverse=True)
    active: set[int] = set()
    for block in blocks:
        while waiting and passages[waiting[-1]].start < block.end:
            active.add(waiting.pop())
        active = {number for number in active if passages[number].end > block.start}
        yield list(_runs(text, block, [(number, passages[number]) for number in active]))


def _runs(text: str, block: Span, inside: list[tuple[int, Span]]) -> Iterator[Run]:
    """One block's runs: a sweep over the places where a passage begins or ends."""
    begins: dict[int, list[int]] = {}
    ends: dict[int, list[int]] = {}
    for number, span in inside:
        begins.setdefault(max(span.start, block.start), []).append(number)
        ends.setdefault(min(span.end, block.end), []).append(number)
    open_now: set[int] = set()
    at = block.start
    for place in sorted({*begins, *ends, block.end}):
        if place > at:
            yield Run(text[at:place], tuple(sorted(open_now)))
            at = place
        open_now.difference_update(ends.get(place, ()))
        open_now.update(begins.get(place, ()))
