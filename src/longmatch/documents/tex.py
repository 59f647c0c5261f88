"""LaTeX source: sections, captions, footnotes, tables, formulas and references."""

import re
import unicodedata
from contextlib import suppress
from pathlib import Path

from longmatch.documents.checks import check_file
from longmatch.documents.document import Kind
from longmatch.documents.draft import Draft
from longmatch.documents.tex_source import VERBATIM, Labels, citation_texts, document_body, group, label_numbers, load

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


def _environments(names: str) -> frozenset[str]:
    """The names of environments, with and without a star."""
    return frozenset(f"{name}{star}" for name in names.split() for star in ("", "*"))


_LEVELS = ("part", "chapter", "section", "subsection", "subsubsection")
_MATH = _environments("equation align alignat gather multline eqnarray displaymath math flalign")
_TABLE = _environments("tabular tabularx tabulary longtable tblr")
_FLOAT = _environments("figure table wrapfigure wraptable algorithm listing sidewaystable sidewaysfigure")
_SKIPPED = _environments("tikzpicture pgfpicture comment CCSXML filecontents forest keywords IEEEkeywords")
_VERBATIM = _environments(VERBATIM)
_READ_WHOLE = _SKIPPED | _MATH | _VERBATIM | _TABLE
_WITH_ARGUMENT = _environments("minipage multicols subfigure subtable adjustbox spacing list thebibliography")
_STRUCTURE = re.compile(
    r"\\(?P<section>part|chapter|(?:sub){0,2}section)\*?(?![A-Za-z])|\\(?P<run_in>(?:sub)?paragraph)\*?(?![A-Za-z])"
    r"|\\begin\s*\{(?P<begin>[^{}]+)\}|\\end\s*\{(?P<end>[^{}]+)\}"
    r"|\\(?P<argument>footnote|footnotetext|caption|captionof|abstract|title|bibliography|printbibliography)\*?(?![A-Za-z])"
    r"|(?P<item>\\item(?![A-Za-z]))|(?P<bibitem>\\bibitem(?![A-Za-z]))|(?P<bracket>\\\[)|(?P<dollars>\$\$)"
    r"|(?P<break>\\par(?![A-Za-z])|\n[ \t]*\n)"
)
_ROW_END = re.compile(r"\\\\(?:\[[^\]]{0,200}\])?|\\tabularnewline")
_CELL_END = re.compile(r"(?<!\\)&")
_ENVIRONMENT_END = re.compile(r"\\end\s*+\{([^{}]++)\}")
_SPACE_BEFORE = re.compile(r" (?=[.,;:)])")
_RULE = re.compile(r"\\[a-z]*(?:rule|line)(?![A-Za-z])")
_TITLE = re.compile(r"\\(?:ic[a-z]*)?title\*?\s*(?=[\[{])")


def read_tex(path: Path) -> Draft:
    """Read a LaTeX file with the files it includes and the .bbl file of the same name, if any."""
    check_file(path)
    source, remarks = load(path)
    bbl = path.with_suffix(".bbl")
    references, more = load(bbl) if bbl.is_file() and bbl.stat().st_size else ("", [])
    title = ""
    if command := _TITLE.search(source):
        title = plain_text(group(source, group(source, command.end(), "[")[1])[0].replace("\\\\", " "))
    reader = _Reader(document_body(source), references)
    reader.read()
    reader.draft.title, reader.draft.remarks = title, remarks + more
    return reader.draft


class _Reader:
    """Walks the body from one structural command to the next; the text in between becomes paragraphs."""

    def __init__(self, source: str, references: str) -> None:
        self.draft = Draft()
        self._source, self._references = source, references
        self._labels = Labels(label_numbers(source), citation_texts(source) or citation_texts(references))
        self._top_level = next((n for n, name in enumerate(_LEVELS) if f"\\{name}" in source), 2)
        self._buffer: list[str] = []
        self._notes: list[str] = []
        self._kind: Kind = "text"
        self._interrupted: list[tuple[list[str], list[str]]] = []  # paragraphs around a float, and their notes

    def read(self) -> None:
        """Read the whole source into `draft`."""
        position = 0
        while (command := _STRUCTURE.search(self._source, position)) is not None:
            self._buffer.append(self._source[position : command.start()])
            position = self._handle(command)
        self._buffer.append(self._source[position:])
        while self._interrupted:
            self._end_float()
        self._flush()

    def _handle(self, command: re.Match[str]) -> int:
        """Handle a structural command; return the position after it."""
        end = command.end()
        if command["section"]:
            self._flush()
            text, end = group(self._source, group(self._source, end, "[")[1])
            level = _LEVELS.index(command["section"]) - self._top_level + 1
            self.draft.heading(self._plain(text), max(1, level))
        elif command["run_in"]:
            self._flush()
            text, end = group(self._source, group(self._source, end, "[")[1])
            self._buffer.append(f"{text} ")
        elif command["begin"]:
            return self._begin(command["begin"].strip(), end)
        elif command["end"]:
            name = command["end"].strip()
            if name in _FLOAT and self._interrupted:
                self._end_float()
            else:
                self._flush()
                self._kind = "text" if name == "thebibliography" else self._kind
        elif command["argument"]:
            return self._argument(command["argument"], end)
        elif command["item"]:
            self._flush()
            text, end = group(self._source, end, "[")
            self._buffer.append(f"{text} ")
        elif command["bibitem"]:
            self._flush()
            end = group(self._source, group(self._source, end, "[")[1])[1]
        elif command["bracket"] or command["dollars"]:
            closing = "\\]" if command["bracket"] else "$$"
            close = self._source.find(closing, end)
            close = close if close >= 0 else len(self._source)
            self._buffer.append(f" ${self._source[end:close]}$ ")
            end = close + 2
        else:
            self._flush()
        return end

    def _begin(self, name: str, position: int) -> int:
        """Handle the beginning of an environment, or all of it; return the position after that."""
        if name in _READ_WHOLE:
            ends = (end for end in _ENVIRONMENT_END.finditer(self._source, position) if end[1] == name)
            closing = next(ends, None)
            content = self._source[position : closing.start() if closing else len(self._source)]
            if name in _MATH:
                self._buffer.append(f" ${content}$ ")
            elif name in _VERBATIM:
                self._flush()
                self.draft.paragraph(content.strip("\n"), "code")
            elif name in _TABLE:
                self._table(content)
            return closing.end() if closing else len(self._source)
        if name in _FLOAT:
            self._interrupted.append((self._buffer, self._notes))
            self._buffer, self._notes = [], []
            return group(self._source, position, "[")[1]
        self._flush()
        if name == "abstract":
            self.draft.heading("Abstract")
        elif name == "thebibliography":
            if not self.draft.blocks or self.draft.blocks[-1].kind != "heading":
                self.draft.heading("References")
            self._kind = "reference"
        option, end = group(self._source, position, "[")
        if name in _WITH_ARGUMENT:
            end = group(self._source, end)[1]
        elif option and name not in {"enumerate", "itemize", "description", "document"}:
            self._buffer.append(f"{option}: ")  # a theorem's name
        return end

    def _end_float(self) -> None:
        self._flush()
        self._buffer, self._notes = self._interrupted.pop()

    def _argument(self, name: str, position: int) -> int:
        """Handle a command whose argument is a text apart from the paragraph: a footnote, a caption, an abstract."""
        start = group(self._source, position, "[")[1]
        if name == "captionof":
            start = group(self._source, start)[1]
        text, end = group(self._source, start)
        if name in {"footnote", "footnotetext"}:
            self._notes.append(text)
        elif name in {"caption", "captionof"}:
            self.draft.paragraph(self._plain(text), "caption")
        elif name == "abstract" and text:
            self._flush()
            self.draft.heading("Abstract")
            self.draft.paragraph(self._plain(text))
        elif name in {"bibliography", "printbibliography"} and self._references:
            self._flush()
            self._source, self._references = f"{self._source[:end]}{self._references}{self._source[end:]}", ""
        return end

    def _table(self, source: str) -> None:
        position = group(source, 0, "[")[1]
        while (end := group(source, position)[1]) > position:  # width and column specification
            position = end
        rows = _ROW_END.split(_RULE.sub("", source[position:]))
        lines = [" | ".join(self._plain(cell) for cell in _CELL_END.split(row)) for row in rows]
        self.draft.paragraph("\n".join(line for line in lines if line.strip(" |")), "table")

    def _flush(self) -> None:
        text, self._buffer = self._plain("".join(self._buffer)), []
        if any(map(str.isalnum, text)):
            self.draft.paragraph(text, self._kind)
        notes, self._notes = self._notes, []
        for note in notes:
            self.draft.paragraph(self._plain(note), "footnote")

    def _plain(self, source: str) -> str:
        return _SPACE_BEFORE.sub("", plain_text(source, self._labels))


_ACCENTS = {"'": "\u0301", "`": "\u0300", "^": "\u0302", '"': "\u0308", "~": "\u0303", "=": "\u0304", ".": "\u0307"}
_ACCENTS |= {"u": "\u0306", "v": "\u030c", "H": "\u030b", "c": "\u0327", "k": "\u0328", "r": "\u030a", "d": "\u0323"}
_ACCENTS |= {"b": "\u0331"}
_MATH_ACCENTS = {"hat": "\u0302", "tilde": "\u0303", "bar": "\u0304", "dot": "\u0307", "ddot": "\u0308"}
_MATH_ACCENTS |= {"vec": "\u20d7", "widehat": "\u0302", "widetilde": "\u0303"}

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
_ESCAPED = dict.fromkeys("!/()[]-", "") | dict.fromkeys(",;: \n>", " ") | {"|": "‖"}
_UNICODE_SPELLING = {"lambda": "lamda", "Lambda": "Lamda"}
_MAX_DEPTH = 30
_MAX_ARGUMENTS = 300  # characters: longer braces after an unknown command are running text


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
            converted, position = _command(word, source, position, labels, math, depth)
            out.append(converted)
        elif char in _ACCENTS and not math:
            converted, position = _accented(_ACCENTS[char], source, position)
            out.append(converted)
        elif char == "\\":
            out.append(" ")
            position = group(source, position, "[")[1]
        elif char:
            out.append(_ESCAPED.get(char, char))
        elif dollars:
            math = not math
        elif punctuation:
            out.append(punctuation if math and punctuation not in {"~", "&"} else _PUNCTUATION[punctuation])
        else:
            out.append(text or other or "")
    return " ".join("".join(out).split())


def _command(word: str, source: str, position: int, labels: Labels, math: bool, depth: int) -> tuple[str, int]:
    """What a command stands for, and the position after it and its arguments."""
    if word in _ACCENTS and not math and source[position : position + 1] in {"{", " "}:
        return _accented(_ACCENTS[word], source, position)
    if word in _MATH_ACCENTS:
        return _accented(_MATH_ACCENTS[word], source, position)
    if word in _SYMBOLS:
        skipped = 0 if math else 2 if source.startswith("{}", position) else source.startswith(" ", position)
        return _SYMBOLS[word], position + skipped  # TeX swallows the space after \ss; an empty group keeps it
    name = word.removeprefix("var")
    with suppress(KeyError):  # it is no Greek letter
        case = "CAPITAL" if name[:1].isupper() else "SMALL"
        return unicodedata.lookup(f"GREEK {case} LETTER {_UNICODE_SPELLING.get(name, name)}"), position
    if word in _OPERATORS:
        return f"{word} ", position
    if _CITE.fullmatch(word):
        while (after := group(source, position, "[")[1]) > position:  # "see", "p. 5"
            position = after
        keys, position = group(source, position)
        names = (key.strip() for key in keys.split(","))
        return ", ".join(labels.citations.get(key, f"[{key}]") for key in names), position
    if _REFERENCE.fullmatch(word):
        key, position = group(source, position)
        return labels.numbers.get(key.strip(), ""), position
    if word in {"frac", "dfrac", "tfrac", "nicefrac"} and depth < _MAX_DEPTH:
        above, position = group(source, position)
        below, position = group(source, position)
        return "/".join(plain_text(part, labels, True, depth + 1) for part in (above, below)), position
    while (after := group(source, position, "[")[1]) > position and source[position] == "[":
        position = after
    if word in _SKIPPED_ARGUMENTS:
        for _ in range(_SKIPPED_ARGUMENTS[word]):
            position = group(source, position)[1]
        return "", position
    # The arguments of an unknown command, separated by spaces if there are several
    window = source[position : position + _MAX_ARGUMENTS]
    arguments: list[str] = []
    end = 0
    while window.startswith("{", end):
        argument, end = group(window, end)
        arguments.append(argument)
    if len(arguments) < 2 or end == _MAX_ARGUMENTS or depth >= _MAX_DEPTH:
        return "", position  # the braces are read as running text
    return " ".join(plain_text(argument, labels, math, depth + 1) for argument in arguments), position + end


def _accented(accent: str, source: str, position: int) -> tuple[str, int]:
    letter, end = group(source, position)
    if end == position:
        while source.startswith(" ", position):
            position += 1
        if match := _ACCENTED.match(source, position):
            letter, end = match[0].strip(), match.end()
    letter = {"\\i": "i", "\\j": "j"}.get(letter, letter.lstrip("\\"))
    return unicodedata.normalize("NFC", letter[:1] + accent + letter[1:]) if letter.strip() else "", end
