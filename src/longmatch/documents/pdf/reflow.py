"""Reflow text: join the lines of a paragraph, and paragraphs broken by columns, pages and figures."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from longmatch.documents.pdf.blocks import LIST_ITEM, Body, LayoutBlock, ends_sentence
from longmatch.documents.pdf.lines import Line

_WORD = re.compile(r"[^\W\d_]+(?:[-'’][^\W\d_]+)*")
_HYPHENATED_END = re.compile(r"(?<![^\W\d_])(?<![^\W\d_]-)([^\W\d_]++(?:-[^\W\d_]++)*+)-$")
_WORD_START = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_IDEOGRAPHIC = re.compile(r"[\u3000-\u30ff\u3400-\u9fff\uff00-\uffef]")
_OPEN_END = re.compile(r"[,\-–—]$|\b(?:the|of|and|a|an|in|to|for|with|by|on|is|are|that|as|or)$", re.IGNORECASE)
_MAX_INTERRUPTIONS = 3  # blocks between the halves of a hyphenated word


class Vocabulary:
    """The words of the document, which show whether a hyphen at the end of a line belongs to the word."""

    def __init__(self, lines: Iterable[Line]) -> None:
        self._counts: Counter[str] = Counter()
        for line in lines:
            words = _WORD.findall(line.text.casefold())
            self._counts.update(words[1:-1])  # the first and the last may be incomplete
            self._counts.update(words[:1] if len(words) == 1 else ())

    def drops_hyphen(self, left: str, right: str) -> bool:
        """Whether two halves are joined without the hyphen between them.

        >>> words = Vocabulary([])
        >>> [words.drops_hyphen(*pair) for pair in [("docu", "ments"), ("EMBED", "DINGS")]]
        [True, True]
        >>> [words.drops_hyphen(*pair) for pair in [("Ku", "Klux"), ("state-of-the", "art")]]
        [False, False]
        """
        joined, hyphenated = (left + right).casefold(), f"{left}-{right}".casefold()
        if self._counts[joined] != self._counts[hyphenated]:
            return self._counts[joined] > self._counts[hyphenated]
        one_case = right[:1].islower() or (left.isupper() and right.isupper())
        if not one_case or "-" in left:
            return False
        halves_are_words = self._counts[left.casefold()] and self._counts[right.casefold()]
        return not (halves_are_words and len(left) > 2 and len(right) > 2)


def join_pages(lines: Sequence[Line], vocabulary: Vocabulary) -> tuple[str, list[tuple[int, int]]]:
    """The text of consecutive lines, and where in it further pages begin: character, page."""
    text, breaks = "", []
    for number, line in enumerate(lines):
        added = " ".join(line.text.split())
        text = join(text, added, vocabulary)
        if number and line.page != lines[number - 1].page:
            breaks.append((len(text) - len(added), line.page))
    return text, breaks


def join(before: str, after: str, vocabulary: Vocabulary) -> str:
    """Join two texts, the second of which begins on a new line; Chinese characters are joined without a blank.

    >>> join("long docu-", "ments", Vocabulary([])), join("很长的", "文件", Vocabulary([]))
    ('long documents', '很长的文件')
    """
    if not before or not after:
        return before or after
    left, right = _HYPHENATED_END.search(before), _WORD_START.match(after)
    if left and right:
        if vocabulary.drops_hyphen(left[1], right[0]):
            return before[:-1] + after
        return before + after
    if before.endswith(("-", "/")) and not before.endswith((" -", "--")):
        return before + after
    if _IDEOGRAPHIC.match(before[-1]) and _IDEOGRAPHIC.match(after[0]):
        return before + after
    return f"{before} {after}"


def join_continued(blocks: list[LayoutBlock], body: Body) -> list[LayoutBlock]:
    """Append to each paragraph the block that continues it; blocks in between follow the paragraph."""
    result: list[LayoutBlock] = []
    open_block: LayoutBlock | None = None
    interruptions = 0  # text blocks since a paragraph that ends in half a word
    for block in blocks:
        if block.kind == "heading":
            open_block = None
        elif block.kind == "text":
            if open_block is not None and _continues(open_block, block, body):
                open_block.lines += block.lines
                continue
            if open_block is not None and open_block.last.text.endswith("-") and interruptions < _MAX_INTERRUPTIONS:
                interruptions += 1
            else:
                open_block, interruptions = block, 0
        result.append(block)
    return result


def _continues(before: LayoutBlock, block: LayoutBlock, body: Body) -> bool:
    last, first = before.last, block.first
    if LIST_ITEM.match(first.text) and not _OPEN_END.search(last.text[-8:]):
        return False
    if abs(last.size - first.size) > 0.07 * body.size or last.bold != first.bold:
        return first.text[:1].islower() and not ends_sentence(last.text) and last.column == first.column
    if first.text[:1].islower() and (not ends_sentence(last.text) or last.text.endswith((":", ";"))):
        return True
    if last.text.endswith("-") and last.text[-2:-1].isalpha():
        return False  # the other half of a word begins with a lower-case letter
    if _OPEN_END.search(last.text[-8:]):
        return True
    if ends_sentence(last.text) or last.column == first.column:
        return False
    full = last.x1 > last.right - 2 * last.size
    indented = first.x0 > first.left + 0.7 * first.size
    return full and not indented
