"""Preprocess LaTeX source: remove comments, insert included files, expand the author's commands."""

import re
from dataclasses import dataclass
from pathlib import Path

from longmatch.documents.decoding import read_text

VERBATIM = r"(?:verbatim|Verbatim|lstlisting|minted|alltt)\*?"
_COMMENT = re.compile(
    rf"(\\begin\s*\{{({VERBATIM})\}}.*?(?:\\end\s*\{{\2\}}|\Z)|\\\\|\\%)|%[^\n]*(?:\n[ \t]*(?=[^\s])|\n|\Z)", re.DOTALL
)
_INPUT = re.compile(r"\\(input|include|subfile)(?![A-Za-z])\s*(?:\{([^{}]+)\}|([^\s\\{}]+))")
_BRACE = re.compile(r"\\.|[{}]", re.DOTALL)
_DEFINITION = re.compile(
    r"\\(?:(?:re|provide)?newcommand|providecommand|DeclareRobustCommand|DeclareMathOperator)\*?\s*\{?\s*\\([A-Za-z]+)\s*\}?"
    r"\s*(?:\[(\d)\])?\s*(\[[^\]]{0,400}\])?\s*(?=\{)|\\def\s*\\([A-Za-z]+)\s*((?:#\d)*)\s*(?=\{)"
)
_NEVER_EXPANDED = frozenset(f"{x}{y}" for x in ("", "sub", "subsub") for y in ("section", "paragraph")) | {
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
_MAX_DEPTH = 10  # of files that include files, and of commands that use commands
_LONGEST_OPTION = 4_000  # characters
_MAX_GROWTH = 500_000  # characters that expansion may add, beyond doubling the source


@dataclass(frozen=True)
class _Command:
    """A command defined by the author."""

    body: str
    argument_count: int
    default: str | None  # of the first argument, if that is optional


def load(path: Path) -> str:
    """The preprocessed source of a file. Included files must lie in its folder or below."""
    return _expand(_load(path, path.resolve().parent, frozenset({path.resolve()})))


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


def _load(path: Path, folder: Path, opened: frozenset[Path]) -> str:
    text = read_text(path).replace("\r\n", "\n").replace("\r", "\n")
    text = _COMMENT.sub(lambda match: match[1] or "", text)

    def included(command: re.Match[str]) -> str:
        name = (command[2] or command[3]).strip().strip('"')
        for file in ((folder / f"{name}.tex").resolve(), (folder / name).resolve()):
            if not file.is_relative_to(folder) or file in opened or len(opened) > _MAX_DEPTH:
                continue
            if file.is_file() and file.stat().st_size:
                separator = "\n\n" if command[1] == "include" else ""
                return f"{separator}{document_body(_load(file, folder, opened | {file})).strip()}{separator}"
        return ""

    return _INPUT.sub(included, text)


def document_body(text: str) -> str:
    r"""The text between \begin{document} and \end{document}, or all of it if there is no such environment."""
    begin = re.search(r"\\begin\s*\{document\}", text)
    end = re.search(r"\\end\s*\{document\}", text)
    return text[begin.end() if begin else 0 : end.start() if end else len(text)]


def _expand(text: str) -> str:
    commands, text = _extract_definitions(text)
    if not commands:
        return text
    names = re.compile(rf"\\({'|'.join(sorted(commands, key=len, reverse=True))})(?![A-Za-z@])")
    max_length = 2 * len(text) + _MAX_GROWTH
    for _ in range(_MAX_DEPTH):
        parts: list[str] = []
        done = added = 0
        for call in names.finditer(text):
            if call.start() < done or added > max_length:
                continue
            body, end = _apply(commands[call[1]], text, call.end())
            parts += [text[done : call.start()], body]
            added += len(body)
            done = end
        if not parts:
            break
        text = "".join([*parts, text[done:]])
        if len(text) > max_length:
            break
    return text


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


def _apply(command: _Command, text: str, position: int) -> tuple[str, int]:
    """The expansion of a command with the arguments at a position, and the position after them."""
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
    if not command.argument_count:
        return command.body, position
    return re.sub(r"#(\d)", lambda n: "".join(arguments[int(n[1]) - 1 : int(n[1])]), command.body), position
