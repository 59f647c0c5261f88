"""LaTeX as plain text: accents, dashes, quotes, symbols and formulas in Unicode characters."""

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache

from longmatch.documents.tex_labels import Labels
from longmatch.documents.tex_source import group

_SYMBOL_LIST = r"""
ss=ß ae=æ AE=Æ oe=œ OE=Œ aa=å AA=Å o=ø O=Ø l=ł L=Ł i=ı j=ȷ dh=ð DH=Ð th=þ TH=Þ S=§ P=¶ pounds=£ euro=€ copyright=©
textregistered=® texttrademark=™ textbackslash=\ textasciitilde=~ textasciicircum=^ textunderscore=_ textellipsis=…
ldots=… dots=… cdots=… dotsc=… textendash=– textemdash=— textquoteright=’ textquoteleft=‘ textquotedblleft=“
textquotedblright=” TeX=TeX LaTeX=LaTeX BibTeX=BibTeX textdegree=° degree=° leq=≤ le=≤ geq=≥ ge=≥ neq=≠ ne=≠ times=×
cdot=· in=∈ notin=∉ sum=∑ prod=∏ int=∫ infty=∞ to=→ rightarrow=→ leftarrow=← Rightarrow=⇒ Leftrightarrow=⇔
leftrightarrow=↔ mapsto=↦ approx=≈ sim=∼ simeq=≃ equiv=≡ propto=∝ pm=± mp=∓ partial=∂ nabla=∇ forall=∀ exists=∃ neg=¬
cup=∪ cap=∩ subset=⊂ subseteq=⊆ emptyset=∅ ell=ℓ prime=′ mid=| langle=⟨ rangle=⟩ lfloor=⌊ rfloor=⌋ lceil=⌈ rceil=⌉
circ=∘ otimes=⊗ oplus=⊕ star=⋆ wedge=∧ land=∧ vee=∨ lor=∨ ll=≪ gg=≫ perp=⊥ top=⊤ sqrt=√ setminus=∖ odot=⊙ dagger=†
ddagger=‡ bullet=• div=÷
"""
_SYMBOLS = dict(pair.split("=") for pair in _SYMBOL_LIST.split())


def _combining(pairs: str) -> dict[str, str]:
    """Commands and their combining characters."""
    words = pairs.split()
    return {name: chr(int(code, 16)) for name, code in zip(words[::2], words[1::2], strict=True)}


_ACCENTS = _combining(
    "' 0301 ` 0300 ^ 0302 \" 0308 ~ 0303 = 0304 . 0307 u 0306 v 030c H 030b c 0327 k 0328 r 030a d 0323 b 0331"
)
_MATH_ACCENTS = _combining("hat 0302 tilde 0303 bar 0304 dot 0307 ddot 0308 vec 20d7 widehat 0302 widetilde 0303")

_OPERATOR_LIST = "log ln exp sin cos tan tanh max min arg argmax argmin lim sup inf det dim ker deg gcd Pr mod bmod"
_OPERATORS = frozenset(_OPERATOR_LIST.split())

_NOT_TEXT = {  # number of arguments -> commands
    1: """label vspace hspace includegraphics color textcolor href index pagestyle thispagestyle bibliographystyle
    thanks hypersetup cline cmidrule rowcolor cellcolor scalebox author email affiliation institute date address
    keywords usepackage documentclass graphicspath pagenumbering raisebox parbox fontfamily selectlanguage
    addbibresource newtheorem theoremstyle captionsetup phantom hyphenation stepcounter refstepcounter setcopyright
    colorbox vskip hypertarget hyperlink bibliography printbibliography""",
    2: """setlength addtolength setcounter addtocounter fontsize multicolumn multirow rule resizebox fcolorbox
    addcontentsline newenvironment definecolor""",
}
_SKIPPED_ARGUMENTS = {name: count for count, names in _NOT_TEXT.items() for name in names.split()}

_TOKEN = re.compile(r"\\([A-Za-z@]+)\*?|\\(.)|(\$\$?)|(---|--|``|''|`|~|&)|([{}])|([^\\${}~`'&-]+)|(.)", re.DOTALL)
_ACCENTED = re.compile(r"\\([A-Za-z]+)\s?|([^\\])")
_CITE = re.compile(r"(?:paren|text|auto|foot|full)?[Cc]ite[A-Za-z]*")
_REFERENCE = re.compile(r"(?:eq|auto|page|name|v)?ref|[cC]ref")
_PUNCTUATION = {"---": "—", "--": "–", "``": "“", "''": "”", "`": "‘", "~": " ", "&": " "}
_UNICODE_SPELLING = {"lambda": "lamda", "Lambda": "Lamda"}
_MAX_DEPTH = 30
_MAX_ARGUMENTS = 300  # characters: longer braces after an unknown command are running text


@dataclass(frozen=True)
class _Mode:
    labels: Labels
    math: bool
    depth: int


def plain_text(source: str, labels: Labels = Labels(), math: bool = False, depth: int = 0) -> str:  # noqa: B008
    r"""Convert LaTeX to plain text; `labels` resolves references, `math` starts in math mode.

    >>> labels = Labels(citations={"a": "[1]"})
    >>> plain_text(r"Caf\'e --- \emph{na\"{\i}ve} ``$\alpha^{2} \leq \frac{1}{x}$''~\cite{a}", labels)
    'Café — naïve “α^2 ≤ 1/x” [1]'
    """
    out: list[str] = []
    position = 0
    while position < len(source) and (token := _TOKEN.match(source, position)) is not None:
        position = token.end()
        word, char, dollars, punctuation, _, text, other = token.groups()
        if word:
            converted, position = _command(word, source, position, _Mode(labels, math, depth))
            out.append(converted)
        elif char:
            converted, position = _escaped(char, source, position, math)
            out.append(converted)
        elif dollars:
            math = not math
        elif punctuation:
            out.append(punctuation if math and punctuation not in {"~", "&"} else _PUNCTUATION[punctuation])
        else:
            out.append(text or other or "")
    return " ".join("".join(out).split())


def _escaped(char: str, source: str, position: int, math: bool) -> tuple[str, int]:
    """A backslash and a character that is not a letter."""
    if char in _ACCENTS and not math:
        return _accented(_ACCENTS[char], source, position)
    if char in "\\,;: \n!>/":
        if char == "\\":
            position = group(source, position, "[")[1]
        return ("" if char in "!/" else " "), position
    return ("" if char in "()[]-" else "‖" if char == "|" else char), position


def _command(word: str, source: str, position: int, mode: _Mode) -> tuple[str, int]:
    if word in _ACCENTS and not mode.math and source[position : position + 1] in {"{", " "}:
        return _accented(_ACCENTS[word], source, position)
    if word in _MATH_ACCENTS:
        return _accented(_MATH_ACCENTS[word], source, position)
    if word in _SYMBOLS:
        return _SYMBOLS[word], position if mode.math else _skip_space(source, position)
    if greek := _greek(word):
        return greek, position
    if word in _OPERATORS:
        return f"{word} ", position
    if _CITE.fullmatch(word):
        return _citation(source, position, mode.labels)
    if _REFERENCE.fullmatch(word):
        key, position = group(source, position)
        return mode.labels.numbers.get(key.strip(), ""), position
    if word in {"frac", "dfrac", "tfrac", "nicefrac"} and mode.depth < _MAX_DEPTH:
        above, position = group(source, position)
        below, position = group(source, position)
        return "/".join(plain_text(part, mode.labels, True, mode.depth + 1) for part in (above, below)), position
    while (after := group(source, position, "[")[1]) > position and source[position] == "[":
        position = after
    if word in _SKIPPED_ARGUMENTS:
        for _ in range(_SKIPPED_ARGUMENTS[word]):
            position = group(source, position)[1]
        return "", position
    return _arguments(source, position, mode)


def _arguments(source: str, position: int, mode: _Mode) -> tuple[str, int]:
    """The arguments of an unknown command, separated by spaces if there are several."""
    window = source[position : position + _MAX_ARGUMENTS]
    arguments: list[str] = []
    end = 0
    while window.startswith("{", end):
        argument, end = group(window, end)
        arguments.append(argument)
    if len(arguments) < 2 or end == _MAX_ARGUMENTS or mode.depth >= _MAX_DEPTH:
        return "", position  # the braces are read as running text
    texts = (plain_text(argument, mode.labels, mode.math, mode.depth + 1) for argument in arguments)
    return " ".join(texts), position + end


def _skip_space(source: str, position: int) -> int:
    """TeX swallows the space after a letter such as \\ss; an empty group keeps it."""
    if source.startswith("{}", position):
        return position + 2
    return position + 1 if source.startswith(" ", position) else position


def _accented(accent: str, source: str, position: int) -> tuple[str, int]:
    letter, end = group(source, position)
    if end == position:
        while source.startswith(" ", position):
            position += 1
        if match := _ACCENTED.match(source, position):
            letter, end = match[0].strip(), match.end()
    letter = {"\\i": "i", "\\j": "j"}.get(letter, letter.lstrip("\\"))
    return unicodedata.normalize("NFC", letter[:1] + accent + letter[1:]) if letter.strip() else "", end


@lru_cache(1_000)
def _greek(word: str) -> str:
    name = word.removeprefix("var")
    case = "CAPITAL" if name[:1].isupper() else "SMALL"
    try:
        return unicodedata.lookup(f"GREEK {case} LETTER {_UNICODE_SPELLING.get(name, name)}")
    except KeyError:
        return ""


def _citation(source: str, position: int, labels: Labels) -> tuple[str, int]:
    while (after := group(source, position, "[")[1]) > position:  # "see", "p. 5"
        position = after
    keys, position = group(source, position)
    return ", ".join(labels.citations.get(key.strip(), f"[{key.strip()}]") for key in keys.split(",")), position
