"""LaTeX source made plain to read: comments gone, included files in place, the author's own commands expanded."""

import re
from dataclasses import dataclass
from pathlib import Path

from longmatch.documents.decoding import read_text

VERBATIM = r"(?:verbatim|Verbatim|lstlisting|minted|alltt)\*?"
_COMMENT = re.compile(
    rf"(\\begin\s*\{{({VERBATIM})\}}.*?\\end\s*\{{\2\}}|\\\\|\\%)|%[^\n]*(?:\n[ \t]*(?=[^\s])|\n|\Z)", re.DOTALL
)
_INPUT = re.compile(r"\\(input|include|subfile)(?![A-Za-z])\s*(?:\{([^{}]+)\}|([^\s\\{}]+))")
_BRACE = re.compile(r"\\.|[{}]", re.DOTALL)
_DEFINITION = re.compile(
    r"\\(?:(?:re|provide)?newcommand|providecommand|DeclareRobustCommand|DeclareMathOperator)\*?\s*\{?\s*\\([A-Za-z]+)\s*\}?"
    r"\s*(?:\[(\d)\])?\s*(\[[^\]]*\])?\s*(?=\{)|\\def\s*\\([A-Za-z]+)\s*((?:#\d)*)\s*(?=\{)"
)
_STRUCTURE = frozenset(f"{x}{y}" for x in ("", "sub", "subsub") for y in ("section", "paragraph")) | {
    "part",
    "chapter",
    "title",
    "caption",
    "footnote",
    "cite",
    "item",
    "label",
    "ref",
    "maketitle",
    "thefootnote",
}
_DEEPEST = 10  # files that include files, commands that use commands
_GROWTH = 500_000  # characters that expanding commands may add to a source, beyond its own length


@dataclass(frozen=True)
class _Command:
    """A command the author defined."""

    body: str
    arguments: int
    default: str | None  # of the first argument, which is then optional


def load(path: Path) -> str:
    """The source of a file with the files it includes, where those lie in its own folder or below."""
    return _expanded(_loaded(path, path.resolve().parent, frozenset({path.resolve()})))


def group(text: str, position: int, opening: str = "{") -> tuple[str, int]:
    """What stands in the braces (or brackets) at a position, white space before them allowed, and where they end.

    >>> group(r"{a{b}\\}} c", 0), group("none", 0)
    (('a{b}\\\\}', 8), ('', 0))
    """
    start = position
    while start < len(text) and text[start] in " \t\n":
        start += 1
    if not text.startswith(opening, start):
        return "", position
    if opening == "[":
        end = text.find("]", start)
        depth_end = text.find("\n\n", start)
        if end < 0 or 0 <= depth_end < end:
            return "", position
        return text[start + 1 : end], end + 1
    depth = 0
    for found in _BRACE.finditer(text, start):
        depth += {"{": 1, "}": -1}.get(found[0], 0)
        if depth == 0:
            return text[start + 1 : found.start()], found.end()
    return text[start + 1 :], len(text)


def _loaded(path: Path, folder: Path, opened: frozenset[Path]) -> str:
    text = read_text(path).replace("\r\n", "\n").replace("\r", "\n")
    text = _COMMENT.sub(lambda found: found[1] or "", text)

    def included(found: re.Match[str]) -> str:
        name = (found[2] or found[3]).strip().strip('"')
        for candidate in ((folder / f"{name}.tex").resolve(), (folder / name).resolve()):
            if not candidate.is_relative_to(folder) or candidate in opened or len(opened) > _DEEPEST:
                continue
            if candidate.is_file() and candidate.stat().st_size:
                around = "\n\n" if found[1] == "include" else ""
                return f"{around}{body_of(_loaded(candidate, folder, opened | {candidate})).strip()}{around}"
        return ""

    return _INPUT.sub(included, text)


def body_of(text: str) -> str:
    r"""What stands between \begin{document} and \end{document}; everything where there is no such frame."""
    begin = re.search(r"\\begin\s*\{document\}", text)
    end = re.search(r"\\end\s*\{document\}", text)
    return text[begin.end() if begin else 0 : end.start() if end else len(text)]


def _expanded(text: str) -> str:
    commands, text = _definitions(text)
    if not commands:
        return text
    names = re.compile(rf"\\({'|'.join(sorted(commands, key=len, reverse=True))})(?![A-Za-z@])")
    largest = 2 * len(text) + _GROWTH
    for _ in range(_DEEPEST):
        pieces: list[str] = []
        done = size = 0
        for found in names.finditer(text):
            if found.start() < done or size > largest:
                continue
            body, end = _applied(commands[found[1]], text, found.end())
            pieces += [text[done : found.start()], body]
            size += len(body)
            done = end
        if not pieces:
            break
        text = "".join([*pieces, text[done:]])
        if len(text) > largest:
            break
    return text


def _definitions(text: str) -> tuple[dict[str, _Command], str]:
    commands: dict[str, _Command] = {}
    pieces: list[str] = []
    done = 0
    for found in _DEFINITION.finditer(text):
        if found.start() < done:
            continue
        body, end = group(text, found.end())
        name = found[1] or found[4]
        pieces.append(text[done : found.start()])
        done = end
        if name in _STRUCTURE or "@" in body or f"\\{name}" in body:
            continue
        count = int(found[2] or 0) if found[1] else len(found[5]) // 2
        commands[name] = _Command(body, count, found[3][1:-1] if found[3] else None)
    return commands, "".join([*pieces, text[done:]])


def _applied(command: _Command, text: str, position: int) -> tuple[str, int]:
    arguments: list[str] = []
    if command.default is not None:
        given, end = group(text, position, "[")
        arguments.append(given if end > position else command.default)
        position = end
    while len(arguments) < command.arguments:
        given, end = group(text, position)
        if end == position and position < len(text):  # one character is an argument too
            given, end = text[position], position + 1
        arguments.append(given)
        position = end
    if not command.arguments:
        return command.body, position
    return re.sub(r"#(\d)", lambda n: "".join(arguments[int(n[1]) - 1 : int(n[1])]), command.body), position
