"""LaTeX source: sections, captions, footnotes, tables, formulas and references."""

import re
from pathlib import Path

from longmatch.documents.checks import check_file
from longmatch.documents.document import Kind
from longmatch.documents.draft import Draft
from longmatch.documents.tex_labels import Labels
from longmatch.documents.tex_source import VERBATIM, document_body, group, load
from longmatch.documents.tex_text import plain_text


def _environments(names: str) -> frozenset[str]:
    """The names of environments, with and without a star."""
    return frozenset(f"{name}{star}" for name in names.split() for star in ("", "*"))


_LEVELS = ("part", "chapter", "section", "subsection", "subsubsection")
_MATH = _environments("equation align alignat gather multline eqnarray displaymath math flalign")
_TABLE = _environments("tabular tabularx tabulary longtable tblr")
_FLOAT = _environments("figure table wrapfigure wraptable algorithm listing sidewaystable sidewaysfigure")
_SKIPPED = _environments("tikzpicture pgfpicture comment CCSXML filecontents forest keywords IEEEkeywords")
_VERBATIM = _environments(VERBATIM)
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
        self._labels = Labels.of(source, references)
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
            return self._heading(command["section"], end)
        if command["run_in"]:
            self._flush()
            text, end = group(self._source, group(self._source, end, "[")[1])
            self._buffer.append(f"{text} ")
        elif command["begin"]:
            return self._begin(command["begin"].strip(), end)
        elif command["end"]:
            self._end(command["end"].strip())
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

    def _heading(self, name: str, position: int) -> int:
        self._flush()
        text, end = group(self._source, group(self._source, position, "[")[1])
        self.draft.heading(self._plain(text), max(1, _LEVELS.index(name) - self._top_level + 1))
        return end

    def _begin(self, name: str, position: int) -> int:
        if name in _SKIPPED:
            return self._contents(name, position)[1]
        if name in _MATH:
            formula, end = self._contents(name, position)
            self._buffer.append(f" ${formula}$ ")
            return end
        if name in _VERBATIM:
            self._flush()
            code, end = self._contents(name, position)
            self.draft.paragraph(code.strip("\n"), "code")
            return end
        if name in _TABLE:
            rows, end = self._contents(name, position)
            self._table(rows)
            return end
        if name in _FLOAT:
            self._interrupted.append((self._buffer, self._notes))
            self._buffer, self._notes = [], []
            return group(self._source, position, "[")[1]
        self._flush()
        if name == "abstract":
            self.draft.heading("Abstract")
        elif name == "thebibliography":
            self._begin_references()
        option, end = group(self._source, position, "[")
        if name in _WITH_ARGUMENT:
            end = group(self._source, end)[1]
        elif option and name not in {"enumerate", "itemize", "description", "document"}:
            self._buffer.append(f"{option}: ")  # a theorem's name
        return end

    def _end(self, name: str) -> None:
        if name in _FLOAT and self._interrupted:
            self._end_float()
            return
        self._flush()
        if name == "thebibliography":
            self._kind = "text"

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

    def _begin_references(self) -> None:
        last = self.draft.blocks[-1] if self.draft.blocks else None
        if last is None or last.kind != "heading":
            self.draft.heading("References")
        self._kind = "reference"

    def _table(self, source: str) -> None:
        position = group(source, 0, "[")[1]
        while (end := group(source, position)[1]) > position:  # width and column specification
            position = end
        rows = _ROW_END.split(_RULE.sub("", source[position:]))
        lines = [" | ".join(self._plain(cell) for cell in _CELL_END.split(row)) for row in rows]
        self.draft.paragraph("\n".join(line for line in lines if line.strip(" |")), "table")

    def _contents(self, name: str, position: int) -> tuple[str, int]:
        """The content of an environment, and the position after its end."""
        for closing in _ENVIRONMENT_END.finditer(self._source, position):
            if closing[1] == name:
                return self._source[position : closing.start()], closing.end()
        return self._source[position:], len(self._source)

    def _flush(self) -> None:
        text, self._buffer = self._plain("".join(self._buffer)), []
        if any(map(str.isalnum, text)):
            self.draft.paragraph(text, self._kind)
        notes, self._notes = self._notes, []
        for note in notes:
            self.draft.paragraph(self._plain(note), "footnote")

    def _plain(self, source: str) -> str:
        return _SPACE_BEFORE.sub("", plain_text(source, self._labels))
