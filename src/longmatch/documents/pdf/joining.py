"""Lines joined into running text: hyphens at line ends, blanks between words, none between Chinese characters."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from longmatch.documents.pdf.lines import Line

_WORD = re.compile(r"[^\W\d_]+(?:[-'’][^\W\d_]+)*")
_LAST = re.compile(r"([^\W\d_]+(?:-[^\W\d_]+)*)-$")
_FIRST = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_IDEOGRAPHIC = re.compile(r"[\u3000-\u30ff\u3400-\u9fff\uff00-\uffef]")


class Vocabulary:
    """The words of the document itself, which say whether a hyphen at a line's end belongs to the word."""

    def __init__(self, lines: Iterable[Line]) -> None:
        self._counts: Counter[str] = Counter()
        for line in lines:
            words = _WORD.findall(line.text.casefold())
            self._counts.update(words[1:-1])  # the first and the last may be halves
            self._counts.update(words[:1] if len(words) == 1 else ())

    def closed(self, left: str, right: str) -> bool:
        """Whether the hyphen between two halves goes away.

        >>> words = Vocabulary([])
        >>> words.closed("docu", "ments"), words.closed("Ku", "Klux"), words.closed("state-of-the", "art")
        (True, False, False)
        """
        whole, parted = (left + right).casefold(), f"{left}-{right}".casefold()
        if self._counts[whole] != self._counts[parted]:
            return self._counts[whole] > self._counts[parted]
        if not right[:1].islower() or "-" in left:
            return False
        halves = self._counts[left.casefold()] and self._counts[right.casefold()]
        return not (halves and len(left) > 2 and len(right) > 2)


def join_lines(lines: Sequence[Line], words: Vocabulary) -> str:
    """The text of consecutive lines."""
    text = ""
    for line in lines:
        text = join(text, " ".join(line.text.split()), words)
    return text


def join(before: str, after: str, words: Vocabulary) -> str:
    """Two stretches of text, the second beginning on a new line.

    >>> join("long docu-", "ments", Vocabulary([])), join("很长的", "文件", Vocabulary([]))
    ('long documents', '很长的文件')
    """
    if not before or not after:
        return before or after
    left, right = _LAST.search(before), _FIRST.match(after)
    if left and right:
        if words.closed(left[1], right[0]):
            return before[:-1] + after
        return before + after
    if before.endswith(("-", "/")) and not before.endswith((" -", "--")):
        return before + after
    if _IDEOGRAPHIC.match(before[-1]) and _IDEOGRAPHIC.match(after[0]):
        return before + after
    return f"{before} {after}"
