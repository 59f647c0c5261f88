"""Words of form, which say nothing about a document's content: citation marks, cross-references, dates and times.

Two papers are not alike for both having a "Figure 3" or citing something of 2015. A reference to a part of another
work that is named ("Article 14 of the Constitution", "§ 823 BGB") is content.
"""

import re
from collections.abc import Sequence
from functools import cache
from itertools import groupby
from operator import itemgetter

from longmatch.documents.language import words_of
from longmatch.lexical.form_words import CAPITALISED_MONTHS, MONTHS, NUMBERS, OTHER_PARTS, PROVISIONS


def content_words(text: str) -> list[str]:
    """The words of a text as `words_of` splits them, without those of form.

    >>> content_words("As Lee et al. (2015) show in Fig. 2(b), banks fail [12, 15-17].")
    ['as', 'lee', 'show', 'in', 'banks', 'fail']
    >>> content_words("Section 302 of the Penal Code")
    ['section', '302', 'of', 'the', 'penal', 'code']
    """
    return words_of_each([text])[0]


def words_of_each(texts: Sequence[str], with_form: bool = False) -> list[list[str]]:
    """The words of texts, those of content, or all `with_form`."""
    words = [words_of(text) for text in texts]
    if with_form:
        return words
    blanked = [_blank(text, found) for text, found in zip(texts, words, strict=True)]
    columns = zip(texts, blanked, words, strict=True)
    return [found if left == text else words_of(left) for text, left, found in columns]


def title_words(title: str) -> list[str]:
    """The content words of a title; all its words where it has none, as "1984" and "March 1917"."""
    return content_words(title) or words_of(title)


def without_form(text: str) -> str:
    """The text with its form blanked character by character, so that spans hold."""
    return _blank(text, words_of(text))


def _blank(text: str, words: Sequence[str]) -> str:
    """Run each pattern only on texts that can match it: most sentences have neither a digit nor any of the words."""
    if text.isascii() and "[" not in text:
        has_digit = bool(words) and min(words) < ":"  # numbers sort first, which is faster to see than any digit
    else:
        has_digit = _DIGIT.search(text) is not None
    if not has_digit and _HINTS.isdisjoint(words):
        return text
    if has_digit and not _MONTH_WORDS.isdisjoint(words):
        text = _DATE.sub(_blank_date, text)
    if not (_LABELS if has_digit else _LETTERED).isdisjoint(words) or (
        has_digit and any(mark in text for mark in _UNSPLIT)
    ):
        text = _REFERENCE.sub(_blank_reference, text)
    if has_digit:
        text = _NUMERIC.sub(_spaces, text)
    if not _CITATION_WORDS.isdisjoint(words):
        text = _CITATION.sub(_spaces, text)
    if not _CJK_WORDS.isdisjoint(words):
        text = _cjk().sub(_spaces, text)
    return text


def _spaces(match: re.Match[str]) -> str:
    return " " * len(match[0])


def _blank_date(match: re.Match[str]) -> str:
    """A month with a day or a year; the month alone stays."""
    return _spaces(match) if _DIGIT.search(match[0]) else match[0]


def _blank_reference(match: re.Match[str]) -> str:
    """A label with its numbers, unless another word is followed by a number or another work is named."""
    label, item = match["label"] or "", match["items"]
    key = label.lower()
    if label and (key not in _LABELS or (not match["dot"] and key in _DOTTED)):
        return match[0]
    if not _DIGIT.search(item) and (key not in _LETTERED or (item == "I" and label.islower())):  # in this section I
        return match[0]
    if key in _NUMBERS and _NAME_BEFORE.search(match.string, max(0, match.start() - 40), match.start()):
        return match[0]
    if (not label or key in _PROVISIONS or key in _NUMBERS) and _named_work().match(match.string, match.end()):
        return match[0]
    return _spaces(match)


def _listed(words: str) -> frozenset[str]:
    return frozenset(word.removesuffix(".") for word in words.split())


_PROVISIONS, _NUMBERS = _listed(PROVISIONS), _listed(NUMBERS)
_LABELS = _PROVISIONS | _NUMBERS | _listed(OTHER_PARTS)
_UNDOTTED = frozenset(word for word in f"{PROVISIONS} {OTHER_PARTS}".split() if not word.endswith("."))
_DOTTED = _LABELS - _UNDOTTED - {"nr", "nrs"}
_LETTERED = _UNDOTTED - {"pp", "vol", "vols"}  # "Appendix A", "Table IV"

_DIGIT = re.compile(r"[\d¹²³⁰⁴-⁹]")
_UNSPLIT = ("§", "l'", "l’", "d'", "d’", "L'", "L’")  # l'article is one word
_CJK_RANGE = r"\u3040-\u30ff\u3400-\u9fff"
_END = rf"(?![^\W_{_CJK_RANGE}])"  # the end of a word; a Chinese character may follow
_UPPER = "A-ZÀ-ÖØ-ÞĄĆĘŁŃŚŹŻŞÇİА-ЯЁ"

# Cross-references
_AND = r"(?:and|or|to|und|oder|bis|et|ou|à|y|o|e|a|en|tot|oraz|i|och|till|ja|ve|и)"
_ITEM = (  # 4.1, A.2, 2(b), (5), IV, A
    rf"(?:\(?(?:[A-Z]\.?)?\d+(?:[./]\d+)*[A-Za-z]?{_END}\)?(?:['’]\w+|\s?\([A-Za-z0-9]{{1,4}}\))*"
    rf"|(?:[IVXLC]+|[A-Z]){_END}(?!\.\s?\d))"
)
_ITEMS = (
    rf"{_ITEM}(?:\s?(?:[-–—&]|(?<!\d)/|/(?!\d))\s?{_ITEM}|,?\s{_AND}\s{_ITEM}"
    rf"|[,;]\s?{_ITEM}(?=\s?[,;.:)\]]|\s{_AND}\s|$))*"  # but in "In Table 2, 302 people" 302 is no item
)
_REFERENCE = re.compile(
    rf"(?<![^\W_])(?:(?P<label>[^\W\d_]++)(?P<dot>\.?+)|§§?)[\s~]{{0,2}}+(?=[(\dA-Z])(?P<items>{_ITEMS})"
)
_NAME_BEFORE = re.compile(rf"(?<!\w)[{_UPPER}][^\W\d_]*[.)]*\s+$")
_PART = "|".join(sorted(_PROVISIONS | _NUMBERS, key=len, reverse=True))


@cache
def _named_work() -> re.Pattern[str]:
    """Compiled when it is first needed, as it takes a while."""
    return re.compile(
        rf"(?:[\s,]*+(?:(?:{_AND}|read\swith|r/w|i\.\s?V\.\s?m\.)\s)?"  # § 3 Abs. 2 Nr. 4 EStG
        rf"(?:(?:(?i:{_PART})\b\.?|§§?)\s?(?:{_ITEMS})|(?:lit\.|Buchstabe|Buchst\.)\s?[a-z]\b)){{0,8}}"
        rf"[\s,]++\(?(?:[{_UPPER}]\w*[{_UPPER}]|(?:[{_UPPER}][a-z]{{0,2}}\.\s?){{2}}"  # IPC, StGB, Cr.P.C.
        rf"|(?:of|du|de|del|dell[aoe]|dei|degli|d[oa]s?|di|van)\s(?:(?:the|said|la|l[oae]s?|de|het)\s)?[{_UPPER}]"
        rf"|(?:de\sl|dell)['’][{_UPPER}]"
        r"|(?:des|der)\s[A-Z]?\w*(?:[Gg]esetz|[Oo]rdnung|[Vv]erfassung|[Rr]ichtlinie|[Vv]ertrag|[Kk]onvention|[Ss]atzung)"
        r"|[А-ЯЁ][а-яё]|Konstytucji|Kodeksu)"
    )


# Numeric marks, dates, years, times. One set of first characters is found fast; the branches look back at which it
# was, and past it at what precedes.
_YEAR = r"(?:[1１][89８９]|[2２][0０])\d\d"
_YEAR_ON = r"(?:(?<=[1１])[89８９]|(?<=[2２])[0０])\d\d"  # after its first digit
_KEY = r"[A-Z][A-Za-z]{0,9}\+?(?:\d\d|(?<=[a-z])(?:19|20)\d\d)[a-z]?"  # Smi15, ABC+15, Smith2015
_NUMERIC = re.compile(
    r"[\[\d¹²³⁰⁴-⁹](?:(?<=\[)(?:\s*\d{1,3}(?:[\s,;–—-]+\d{1,3})*[\s,;–—-]*"  # [12, 15-17]
    rf"|{_KEY}(?:\s?[,;]\s?{_KEY})*)\]"
    r"|(?<=[¹²³⁰⁴-⁹])(?:[,⁻–-]?[¹²³⁰⁴-⁹])*"
    rf"|(?<=\d)(?<![^\W_{_CJK_RANGE}].)(?<!\d[.,:/].)(?<![$€£].)(?:"
    rf"{_YEAR_ON}[-/.]\d\d?[-/.]\d\d?(?:T[\d:.]+Z?)?{_END}(?![.,:/-]\d)"
    rf"|\d?([-/.])\s?\d\d?\1\s?{_YEAR}{_END}"
    r"|\d?月\s?\d\d?[日号號]|\d?[时時点點]\s?\d\d?分"
    rf"|{_YEAR_ON}\s?(?:年度?(?:\s?\d\d?\s?月(?:\s?\d\d?\s?[日号號])?)?|년(?:\s?\d\d?월(?:\s?\d\d?일)?)?)"
    r"|(?:(?<=[01])\d|(?<=2)[0-4])?(?::[0-5]\d){1,2}(?:\s?[APap]\.?[Mm]\b\.?)?(?![\w:])"
    r"|\d?(?:[.:][0-5]\d)?\s?(?:[ap]\.?m|[AP]\.?M|Uhr)\b\.?|\d?\s?h\s?[0-5]\d\b"
    r"|(?<!§.)(?<!§\s.)(?<!ection\s.)(?<!rticle\s.)(?<!RFC\s.)(?<!ISO\s.)"  # those that name another work
    rf"{_YEAR_ON}(?:[-–/](?:{_YEAR}|\d\d))?(?:[a-k](?:,\s?[a-k]{_END})*)?{_END}(?![%‰]|[.,:/]\d)))"
)
_MONTH = "|".join(
    f"{first}(?:{'|'.join(month[1:] for month in months)})"
    for first, months in groupby(
        sorted({*CAPITALISED_MONTHS.split(), *MONTHS.split(), *MONTHS.title().split()}), itemgetter(0)
    )
)
_MONTH_WORDS = frozenset(f"{CAPITALISED_MONTHS} {MONTHS}".lower().split())
_DAY = r"(?:0?[1-9]|[12]\d|3[01])(?:st|nd|rd|th|er|[.ºª°])?"
_DATE = re.compile(
    rf"\b(?:(?<![.,$€£-])(?:{_DAY}\s?[-–/]\s?)?{_DAY}\s(?:(?:of|de)\s)?)?(?:{_MONTH})\b\.?"
    rf"(?:\s{_DAY}{_END}(?![.,:]\d))?(?:,?\s(?:del?\s)?{_YEAR}\b)?"
)

# Citations
_CITATION = re.compile(
    r"\b(?:[Ee]t\sal\b|[Ii]bid(?:em)?\b|[OoLl](?:p|oc)\.?\s?cit\b|[Ii]\.\s?e\b|[Ee]\.\s?g\b|[Cc]f\b"
    r"|[Vv]gl\.|[Ee]bd\.|a\.\s?a\.\s?O\.|[Zz]\.\s?B\.|[Dd]\.\s?h\.)"
)
_CITATION_WORDS = frozenset(["al", "ibid", "ibidem", "cit", "e", "g", "cf", "vgl", "ebd", "o", "b", "h"])

# Chinese and Japanese; 第二百三十四条 names an article of a law
_HAN_NUMBER = "一二三四五六七八九十"
_HAN_YEAR = "[一二][〇○零九][〇○零一二三四五六七八九]{2}年"


@cache
def _cjk() -> re.Pattern[str]:
    """The same."""
    return re.compile(
        rf"(?<![代发發外列试試企意地])(?:[图圖図表]|附[图圖図表])\s?\d+(?:[.．–-]\d+)*[a-z]?{_END}"
        rf"|(?<![^\W如见見由从從在据據和与與及])[图圖図表][{_HAN_NUMBER}]+(?![^\W所中可是显顯给給列])"
        rf"|第[\d百{_HAN_NUMBER}]+[章节節页頁]"
        r"|(?:公式|方程式?|等式|式)\s?[(（]\s?\d+(?:[.．–-]\d+)*[a-z]?\s?[)）]|公式\s?\d+(?:[.．–-]\d+)*"
        rf"|(?:附[录錄]|付録)\s?(?:[A-Z\d{_HAN_NUMBER}](?:\.\d+)*|\d+){_END}|附件\s?[\d{_HAN_NUMBER}]+"
        r"|(?:定理|引理|算法)\s?\d+(?:[.．–-]\d+)*"
        rf"|{_HAN_YEAR}(?:[{_HAN_NUMBER}]{{1,2}}月)?(?:[{_HAN_NUMBER}]{{1,3}}[日号號])?"
        rf"|(?<![{_HAN_NUMBER}])[{_HAN_NUMBER}]{{1,2}}月[{_HAN_NUMBER}]{{1,3}}[日号號]"
    )


_CJK_WORDS = frozenset("图圖図表第式录錄録件理法年月")

_HINTS = _LETTERED | _CITATION_WORDS | _CJK_WORDS
