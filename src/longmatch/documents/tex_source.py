"""LaTeX source before it is read: comments removed, files included, commands expanded, labels numbered."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from longmatch.documents.checks import check_file, real_path
from longmatch.documents.decoding import read_text
from longmatch.errors import ReadError

VERBATIM = "verbatim Verbatim lstlisting minted alltt"
_COMMENT = re.compile(
    rf"(\\begin\s*\{{((?:{VERBATIM.replace(' ', '|')})\*?)\}}"
    r".*?(?:\\end\s*\{\2\}|\Z)|\\\\|\\%)|%[^\n]*(?:\n[ \t]*(?=[^\s])|\n|\Z)",
    re.DOTALL,
)
_INPUT = re.compile(r"\\(input|include|subfile)(?![A-Za-z])\s*(?:\{([^{}]+)\}|([^\s\\{}]+))")
_BRACE = re.compile(r"\\.|[{}]", re.DOTALL)
_DEFINITION = re.compile(
    r"\\(?:(?:re|provide)?newcommand|providecommand|DeclareRobustCommand|DeclareMathOperator)\*?\s*+\{?\s*+\\([A-Za-z]++)"
    r"\s*+\}?\s*+(?:\[(\d)\])?\s*+(\[[^\]]{0,400}+\])?\s*+(?=\{)|\\def\s*+\\([A-Za-z]++)\s*+((?:#\d)*+)\s*+(?=\{)"
)
_CALL = re.compile(r"\\([A-Za-z]++)(?!@)")
_PARAMETER = re.compile(r"#(\d)")
_BEGIN, _END = re.compile(r"\\begin\s*+\{document\}"), re.compile(r"\\end\s*+\{document\}")
_NEVER_EXPANDED = frozenset(f"{x}{y}" for x in ("", "sub", "subsub") for y in ("section", "paragraph"))
_NEVER_EXPANDED |= {"part", "chapter", "title", "caption", "footnote", "thefootnote", "cite", "item", "label", "ref"}
_NEVER_EXPANDED |= {"maketitle"}
_MAX_DEPTH = 10  # of files that include files, and of commands that use commands
_LONGEST_OPTION = 4_000  # characters
_MAX_GROWTH = 500_000  # characters that expansion may add, beyond doubling the source
MOST_FILES = 1_000  # that are included, or not found
MOST_CHARACTERS = 5_000_000  # of all of them, several times a long book
_LONGEST_KEY = 500  # characters: a brace that is never closed must not be looked for to the end of the file
_BIBITEM = re.compile(r"\\bibitem\s*(?=[\[{])")
_NAME_AND_YEAR = re.compile(r"(.+?)\((\d{4}[a-z]?)\).*", re.DOTALL)
_LABEL_MARKUP = re.compile(r"\\protect|\\[a-z]+|[{}]")
_COUNTED = re.compile(
    r"\\(?P<section>chapter|(?:sub){0,2}section)(?![A-Za-z*])"
    r"|\\begin\s*\{(?P<begin>figure|table|algorithm|equation|align|gather|multline|eqnarray)(?P<star>\*?)\}"
    r"|\\end\s*\{(?P<end>figure|table|algorithm)\*?\}|\\label\s*\{(?P<label>[^{}]+)\}"
)
_LEVELS = ("chapter", "section", "subsection", "subsubsection")
_FORMULAS = {"equation", "align", "gather", "multline", "eqnarray"}


@dataclass(frozen=True)
class _Command:
    """A command defined by the author."""

    body: str
    argument_count: int
    default: str | None  # of the first argument, if that is optional

    def expand(self, arguments: Sequence[str]) -> str:
        """What it stands for with these arguments."""
        if not self.argument_count:
            return self.body
        return _PARAMETER.sub(lambda n: "".join(arguments[int(n[1]) - 1 : int(n[1])]), self.body)

    def length(self, arguments: Sequence[str]) -> int:
        """The characters of that, at most."""
        return len(self.body) + sum(self.body.count(f"#{n}") * len(text) for n, text in enumerate(arguments, 1))


def load(path: Path) -> tuple[str, list[str]]:
    """The preprocessed source of a file, and remarks. Included files must lie in its folder or below.

    What is beyond the bounds on included files and on expansion is left out, and said in a remark.
    """
    included = _Included(path)
    text, problem = _expand(included.load(path.resolve()))
    return text, [f"{path}: {said}" for said in (included.problem, problem) if said]


def group(text: str, position: int, opening: str = "{") -> tuple[str, int]:
    """The content of the braces (or brackets) at a position, after optional white space, and the position after them.

    >>> group(r"{a{b}\\}} c", 0), group("none", 0)
    (('a{b}\\\\}', 8), ('', 0))
    """
    start = position
    while start < len(text) and text[start] in " \t\n":
        start += 1
    if not text.startswith(opening, start):
        return "", position
    if opening == "[":
        limit = start + _LONGEST_OPTION
        paragraph_end = text.find("\n\n", start, limit)
        end = text.find("]", start, limit if paragraph_end < 0 else paragraph_end)
        return ("", position) if end < 0 else (text[start + 1 : end], end + 1)
    depth = 0
    for brace in _BRACE.finditer(text, start):
        depth += {"{": 1, "}": -1}.get(brace[0], 0)
        if depth == 0:
            return text[start + 1 : brace.start()], brace.end()
    return text[start + 1 :], len(text)


class _Included:
    """The files that a file includes, as many and as large as is ordinary."""

    def __init__(self, path: Path) -> None:
        self._folder = path.resolve().parent
        self._files, self._characters = MOST_FILES, MOST_CHARACTERS  # left
        self.problem = ""

    def load(self, path: Path, opened: frozenset[Path] = frozenset()) -> str:
        """A file without comments, with the files it includes; `opened` are those that include it."""
        opened |= {path}
        text = read_text(path).replace("\r\n", "\n").replace("\r", "\n")
        text = _COMMENT.sub(lambda match: match[1] or "", text)
        return _INPUT.sub(lambda command: self._insert(command, opened), text)

    def _insert(self, command: re.Match[str], opened: frozenset[Path]) -> str:
        if not self._files:
            self.problem = f"it includes more than {MOST_FILES:,} files; the others were left out."
            return ""
        self._files -= 1
        name, file = (command[2] or command[3]).strip().strip('"'), None
        for named in (f"{name}.tex", name):
            with suppress(ReadError, ValueError):  # none, nothing in it, or a name that no file can have
                found = real_path(self._folder / named)
                check_file(found)
                if found.is_relative_to(self._folder) and found not in opened and len(opened) <= _MAX_DEPTH:
                    file = file or found
        if file is None:
            return ""
        self._characters -= file.stat().st_size
        if self._characters < 0:
            self.problem = f"it includes more than {MOST_CHARACTERS:,} characters; the other files were left out."
            return ""
        separator = "\n\n" if command[1] == "include" else ""
        return f"{separator}{document_body(self.load(file, opened)).strip()}{separator}"


def document_body(text: str) -> str:
    r"""The text between \begin{document} and \end{document}, or all of it if there is no such environment."""
    begin, end = _BEGIN.search(text), _END.search(text)
    return text[begin.end() if begin else 0 : end.start() if end else len(text)]


def _expand(text: str) -> tuple[str, str]:
    """A source whose commands are expanded; or some of them, and a remark, if all would make it too long."""
    commands, text = _extract_definitions(text)
    room = limit = len(text) + _MAX_GROWTH
    for _ in range(_MAX_DEPTH if commands else 0):
        parts: list[str] = []
        done = 0
        for call in _CALL.finditer(text):
            if call[1] not in commands or call.start() < done:
                continue
            command = commands[call[1]]
            arguments, end = _arguments(command, text, call.end())
            room -= command.length(arguments)
            if room < 0:
                break
            parts += [text[done : call.start()], command.expand(arguments)]
            done = end
        if room < 0:
            problem = f"its commands stand for more than {limit:,} characters; some were not expanded."
            return "".join([*parts, text[done:]]), problem
        if not parts:
            break
        text = "".join([*parts, text[done:]])
    return text, ""


def _extract_definitions(text: str) -> tuple[dict[str, _Command], str]:
    """The commands a source defines, and the source without their definitions."""
    commands: dict[str, _Command] = {}
    parts: list[str] = []
    done = 0
    for definition in _DEFINITION.finditer(text):
        if definition.start() < done:
            continue
        body, end = group(text, definition.end())
        name = definition[1] or definition[4]
        parts.append(text[done : definition.start()])
        done = end
        if name in _NEVER_EXPANDED or "@" in body or f"\\{name}" in body:
            continue
        count = int(definition[2] or 0) if definition[1] else len(definition[5]) // 2
        commands[name] = _Command(body, count, definition[3][1:-1] if definition[3] else None)
    return commands, "".join([*parts, text[done:]])


def _arguments(command: _Command, text: str, position: int) -> tuple[list[str], int]:
    """The arguments of a command at a position, and the position after them."""
    arguments: list[str] = []
    if command.default is not None:
        argument, end = group(text, position, "[")
        arguments.append(argument if end > position else command.default)
        position = end
    while len(arguments) < command.argument_count:
        argument, end = group(text, position)
        if end == position and position < len(text):  # a single character is an argument too
            argument, end = text[position], position + 1
        arguments.append(argument)
        position = end
    return arguments, position


@dataclass(frozen=True)
class Labels:
    r"""The text of each \ref and each \cite, by its key."""

    numbers: Mapping[str, str] = field(default_factory=dict)
    citations: Mapping[str, str] = field(default_factory=dict)


def label_numbers(source: str) -> dict[str, str]:
    r"""The number each \label refers to.

    >>> label_numbers(r"\section{A}\label{a}\begin{figure}\label{f}\end{figure}\subsection{B}\label{b}")
    {'a': '1', 'f': '1', 'b': '1.1'}
    """
    numbers: dict[str, str] = {}
    sections: list[int] = []
    counts: Counter[str] = Counter()
    top_level = 0 if "\\chapter" in source else 1
    section = current = ""
    for command in _COUNTED.finditer(source):
        if name := command["section"]:
            depth = max(0, _LEVELS.index(name) - top_level)
            sections = [*sections, *([0] * (depth + 1 - len(sections)))][: depth + 1]
            sections[depth] += 1
            section = current = ".".join(map(str, sections))
        elif name := command["begin"]:
            kind = "formula" if name in _FORMULAS else name
            if kind != "formula" or not command["star"]:
                counts[kind] += 1
                current = str(counts[kind])
        elif command["end"]:
            current = section
        else:
            numbers[command["label"].strip()] = current
    return numbers


def citation_texts(source: str) -> dict[str, str]:
    r"""The text of each citation: Doe (2001) if the reference list gives name and year, else the item's number.

    >>> citation_texts(r"\bibitem[Doe(2001)]{d} J. Doe. \bibitem{e} E. Roe.")
    {'d': 'Doe (2001)', 'e': '[2]'}
    """
    texts: dict[str, str] = {}
    position = number = 0
    for item in _BIBITEM.finditer(source):
        if item.start() < position:
            continue
        number += 1
        label, position = group(source, item.end(), "[")
        match = _NAME_AND_YEAR.fullmatch(_LABEL_MARKUP.sub("", label.replace("~", " ")))
        text = f"{' '.join(match[1].split())} ({match[2]})" if match else f"[{number}]"
        texts[group(source[position : position + _LONGEST_KEY], 0)[0].strip()] = text
    return texts
