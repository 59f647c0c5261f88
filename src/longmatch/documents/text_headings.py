"""Headings of plain text. The rules are conservative: a line mistaken for a heading splits a section."""

import re
from collections.abc import Sequence

from longmatch.documents.paragraph_kinds import is_reference_heading

_ROMAN = r"(?=[IVXLC])(?:X{0,3}(?:IX|IV|V?I{0,3})|XL|L|C)"
_DECIMAL = re.compile(r"(?:§\s*)?(\d{1,2}(?:\.\d{1,2}){0,4})[.)]?\s+(?=[^\W\d_])")
_DIGITS = r"\d{1,4}(?:[-–/]\d{1,4})+|(?:1[5-9]|20)\d\d$"  # a title of digits: a type (4-4-0), a year
_NUMBERED_DIGITS = re.compile(rf"(\d{{1,2}})[.)]\s+(?={_DIGITS})")
_TYPE = re.compile(r"\d{1,4}(?:[-–]\d{1,4}){2,4}(?:[ ,]+[\w-]+){0,5}")
_NUMERAL = re.compile(rf"{_ROMAN}(?:[.):]\s*|\s*[-–—]\s*|\s+(?=[A-Z]{{2}})|$)")
_LETTER = re.compile(r"([A-H])[.)]\s+(?=[A-Z])")
_NAMED = re.compile(
    rf"(?:chapter|part|section|article|appendix|annex|schedule|exhibit|book|kapitel|teil|abschnitt|artikel|anhang|chapitre|partie|annexe|"
    rf"capítulo|sección|anexo|capitolo|глава|раздел|часть)\s+(?:\d+(?:\.\d+)*|{_ROMAN}|[A-Z])\b",
    re.IGNORECASE,
)
_CHINESE = re.compile(r"第[一二三四五六七八九十百零〇\d]+[章节節编編部篇]|[一二三四五六七八九十]+、")
_CHINESE_SUB = re.compile(r"[（(][一二三四五六七八九十]+[)）]")
_KNOWN = re.compile(
    r"(?:abstract|summary|introduction|background|methods?|results|discussion|conclusions?|acknowledge?ments?|preface|"
    r"references|bibliography|zusammenfassung|einleitung|literatur|résumé|introducción|resumen|摘要|引言|结论|参考文献)\s*:?",
    re.IGNORECASE,
)
_ENDS_LIKE_A_SENTENCE = re.compile(r"[.!?:;,…。！？：；，、\-–—][\"'”’»)\]]*$")
_ORDINARY_START = re.compile(r"[\"'“”‘’«„(\[<*•·–—\-+|>#]|https?:|www\.")
_FORMULA_OR_SENTENCES = re.compile(r"[=∑∏∫≤≥→|{}]|\(\d{1,3}\)$|[a-z]{2}\.\s+[A-Z]")
_OPEN_END = re.compile(
    r"[^\W\d_]-$|[:,&–—]$|\b(?:an?|the|of|and|or|in|on|to|for|with|by|from|at|as|via|und|der|die|des|für|de|la|et|y)$",
    re.IGNORECASE,
)
_UNDERLINE = re.compile(r"([=\-~^*#_])\1{2,}")

MAX_LENGTH = 100  # characters of a heading with a number or in capitals
MAX_TITLE_LENGTH = 150
MAX_PLAIN_LENGTH = 60  # of one recognised only by standing alone
_MAX_PLAIN_WORDS = 10


def underline_level(line: str) -> int:
    """Level of an underlined heading: 1 for a line of ===, 2 for one of --- or similar, 0 for any other line.

    >>> underline_level("====="), underline_level("-----"), underline_level("a == b")
    (1, 2, 0)
    """
    match = _UNDERLINE.fullmatch(line.strip())
    return 0 if match is None else 1 if match[1] in "=*#" else 2


def numbered_level(line: str) -> int:
    """Level of a numbered heading (1, 2.3, IV., B., Chapter 2, 第三章), 0 for any other line.

    >>> [numbered_level(x) for x in ("2.3 Data", "IV. THE LAW", "Chapter 2", "一、基本案情", "2. He left the house.")]
    [2, 1, 1, 1, 0]
    """
    line = line.strip()
    if not 0 < len(line) <= MAX_LENGTH or _ORDINARY_START.match(line) or _FORMULA_OR_SENTENCES.search(line):
        return 0
    open_end = not _ENDS_LIKE_A_SENTENCE.search(line)
    if match := _NUMERAL.match(line):
        return int(match.end() == len(line) or (open_end and line[match.end()].isupper()))
    if not open_end and not line.endswith("?"):
        return int(bool(_NAMED.fullmatch(line.rstrip(".:"))))
    if line.count("(") > line.count(")"):
        return 0  # the first line of a list item
    if _NUMBERED_DIGITS.match(line):
        return 1
    if match := _DECIMAL.match(line):
        return match[1].count(".") + 1 if line[match.end()].isupper() or not line[match.end()].islower() else 0
    if _CHINESE_SUB.match(line):
        return 2
    if _LETTER.match(line):
        return 2
    return int(bool(_NAMED.match(line) or _CHINESE.match(line)))


def item_number(line: str) -> int | None:
    """The number a list item would begin with, None for a line without one.

    >>> item_number("2. Pears"), item_number("2.3 Data"), item_number("B. Facts"), item_number("IV. THE LAW")
    (2, 3, 66, None)
    """
    if match := _DECIMAL.match(line) or _NUMBERED_DIGITS.match(line):
        return int(match[1].rpartition(".")[2])
    return ord(line[0]) if _LETTER.match(line) else None


def nested_items(numbers: Sequence[int | None]) -> set[int]:
    """The places of list items among headings' numbers: 1, 2, 3 ... between two headings that count on.

    A None is a heading without a number: what follows it may count from 1 again.

    >>> sorted(nested_items([1, 2, 1, 2, 3, 3, 4])), sorted(nested_items([1, 2, None, 1, 2, 3]))
    ([2, 3, 4], [])
    """
    items: set[int] = set()
    place = above = 0  # the number of the heading above
    while place < len(numbers):
        if above and numbers[place] == 1:
            end = place + 1
            while end < len(numbers) and numbers[end] == end - place + 1:
                end += 1
            if end < len(numbers) and numbers[end] == above + 1:
                size = end - place
            else:
                size = above if end - place > above else 0
            items.update(range(place, place + size))
            place += size
        above = numbers[place] or 0
        place += 1
    return items


def is_standard_heading(line: str) -> bool:
    """Whether a line is a word that is always a heading when it stands alone, like Abstract."""
    return _KNOWN.fullmatch(line.strip()) is not None or is_reference_heading(line)


def is_capitals(line: str) -> bool:
    """Whether a line is a heading in capitals, like THE FACTS OF THE CASE."""
    line = line.strip()
    letters = [c for c in line if c.isalpha()]
    return (
        len(line) <= MAX_LENGTH
        and len(letters) >= 3
        and line.isupper()
        and not _ENDS_LIKE_A_SENTENCE.search(line.rstrip(":"))
        and not _ORDINARY_START.match(line)
        and not _FORMULA_OR_SENTENCES.search(line)
    )


def is_plain_heading(line: str) -> bool:
    """Whether a line could be a heading if it stands alone above a paragraph.

    >>> [is_plain_heading(line) for line in ("What the inspectors found", "4-4-0", "He left.", "and so on")]
    [True, True, False, False]
    """
    line = line.strip()
    return is_standard_heading(line) or (
        0 < len(line) <= MAX_PLAIN_LENGTH
        and len(line.split()) <= _MAX_PLAIN_WORDS
        and ((line[0].isalpha() and not line[0].islower()) or _TYPE.fullmatch(line) is not None)
        and not _ENDS_LIKE_A_SENTENCE.search(line)
        and not _FORMULA_OR_SENTENCES.search(line)
    )


def is_title(line: str) -> bool:
    """Whether the first line of a text could be its title.

    >>> is_title("On the Care of Bridges"), is_title("It was raining when she came.")
    (True, False)
    """
    line = line.strip()
    return (
        len(line) <= MAX_TITLE_LENGTH
        and any(map(str.isalpha, line))
        and not _ENDS_LIKE_A_SENTENCE.search(line.rstrip("?!"))
    )


def goes_on(line: str, below: str) -> bool:
    """Whether a title goes on in the line below: it ends in half a word or an open word, or both are in capitals.

    >>> goes_on("A STUDY OF EMBED-", "DINGS"), goes_on("The Care of", "Bridges"), goes_on("On Rain", "Jane Doe")
    (True, True, False)
    """
    line, below = line.strip(), below.strip()
    return _OPEN_END.search(line) is not None or below[:1].islower() or (is_capitals(line) and is_capitals(below))


def breaks_word(line: str, below: str) -> bool:
    """Whether a heading ends in half a word, the rest of which is in the line below.

    >>> breaks_word("2 SEMANTIC EMBED-", "DINGS"), breaks_word("He was well-", "Known")
    (True, False)
    """
    same_case = below[:1].islower() or (line.isupper() and below.isupper())
    return line[-1:] == "-" and line[-2:-1].isalpha() and same_case


def join_title(lines: Sequence[str]) -> str:
    """The lines of a title or heading as one; a hyphen that breaks a word goes.

    >>> join_title(["A STUDY OF EMBED-", "DINGS"]), join_title(["Rain and", "Snow"])
    ('A STUDY OF EMBEDDINGS', 'Rain and Snow')
    """
    title = " ".join(lines[0].split())
    for line in lines[1:]:
        title = title[:-1] + line.strip() if breaks_word(title, line.strip()) else f"{title} {line.strip()}"
    return " ".join(title.split())
