"""LaTeX: sections, captions, footnotes, tables, formulas and references from the source."""

import re
from pathlib import Path

from longmatch.documents.checks import check_file
from longmatch.documents.document import Kind
from longmatch.documents.draft import Draft
from longmatch.documents.tex_labels import places, works
from longmatch.documents.tex_source import VERBATIM, body_of, group, load
from longmatch.documents.tex_text import Labels, plain

_LEVELS = ("part", "chapter", "section", "subsection", "subsubsection")
_MATH = r"(?:equation|align|alignat|gather|multline|eqnarray|displaymath|math|flalign)\*?"
_TABLE = r"(?:tabular[xy]?|longtable|tabulary|tblr)\*?"
_FLOAT = r"(?:figure|table|wrapfigure|wraptable|algorithm|listing|sidewaystable|sidewaysfigure)\*?"
_DROPPED = r"(?:tikzpicture|pgfpicture|comment|CCSXML|filecontents|forest|keywords|IEEEkeywords)\*?"
_WITH_ARGUMENT = re.compile(r"(?:minipage|multicols|subfigure|subtable|adjustbox|spacing|list|thebibliography)\*?")
_STEP = re.compile(
    r"\\(?P<section>part|chapter|(?:sub){0,2}section)\*?(?![A-Za-z])|\\(?P<runin>(?:sub)?paragraph)\*?(?![A-Za-z])"
    r"|\\begin\s*\{(?P<begin>[^{}]+)\}|\\end\s*\{(?P<end>[^{}]+)\}"
    r"|\\(?P<aside>footnote|footnotetext|caption|captionof|abstract|title|bibliography|printbibliography)\*?(?![A-Za-z])"
    r"|(?P<item>\\item(?![A-Za-z]))|(?P<bibitem>\\bibitem(?![A-Za-z]))|(?P<open>\\\[)|(?P<dollars>\$\$)"
    r"|(?P<stop>\\par(?![A-Za-z])|\n[ \t]*\n)"
)
_ROW_END = re.compile(r"\\\\(?:\[[^\]]*\])?|\\tabularnewline")
_RULE = re.compile(r"\\[a-z]*(?:rule|line)(?![A-Za-z])")
_TITLE = re.compile(r"\\(?:ic[a-z]*)?title\*?\s*(?=[\[{])")


def read_tex(path: Path) -> Draft:
    """Read a LaTeX file, with the files it includes and the references beside it (.bbl)."""
    check_file(path)
    source = load(path)
    beside = path.with_suffix(".bbl")
    references = load(beside) if beside.is_file() and beside.stat().st_size else ""
    title = ""
    if found := _TITLE.search(source):
        title = plain(group(source, group(source, found.end(), "[")[1])[0].replace("\\\\", " "))
    reader = _Reader(body_of(source), references)
    reader.read()
    reader.draft.title = title
    return reader.draft


class _Reader:
    """Walks the body from one structural command to the next; what lies between is gathered into paragraphs."""

    def __init__(self, source: str, references: str) -> None:
        self.draft = Draft()
        self._source, self._references = source, references
        self._labels = Labels(places(source), works(source) or works(references))
        self._top = next((n for n, name in enumerate(_LEVELS) if f"\\{name}" in source), 2)
        self._buffer: list[str] = []
        self._notes: list[str] = []
        self._kind: Kind = "text"
        self._set_aside: list[tuple[list[str], list[str]]] = []  # paragraphs that a float interrupts, and their notes

    def read(self) -> None:
        """Read it all."""
        position = 0
        while (found := _STEP.search(self._source, position)) is not None:
            self._buffer.append(self._source[position : found.start()])
            position = self._step(found)
        self._buffer.append(self._source[position:])
        while self._set_aside:
            self._end_float()
        self._flush()

    def _step(self, found: re.Match[str]) -> int:
        """Do what a command says; where to go on."""
        end = found.end()
        if found["section"]:
            return self._heading(found["section"], end)
        if found["runin"]:
            self._flush()
            words, end = group(self._source, group(self._source, end, "[")[1])
            self._buffer.append(f"{words} ")
        elif found["begin"]:
            return self._begin(found["begin"].strip(), end)
        elif found["end"]:
            self._end(found["end"].strip())
        elif found["aside"]:
            return self._aside(found["aside"], end)
        elif found["item"]:
            self._flush()
            words, end = group(self._source, end, "[")
            self._buffer.append(f"{words} ")
        elif found["bibitem"]:
            self._flush()
            end = group(self._source, group(self._source, end, "[")[1])[1]
        elif found["open"] or found["dollars"]:
            closing = "\\]" if found["open"] else "$$"
            close = self._source.find(closing, end)
            close = close if close >= 0 else len(self._source)
            self._buffer.append(f" ${self._source[end:close]}$ ")
            end = close + 2
        else:
            self._flush()
        return end

    def _heading(self, name: str, position: int) -> int:
        self._flush()
        words, end = group(self._source, group(self._source, position, "[")[1])
        self.draft.heading(self._plain(words), max(1, _LEVELS.index(name) - self._top + 1))
        return end

    def _begin(self, name: str, position: int) -> int:
        if re.fullmatch(_DROPPED, name):
            return self._contents(name, position)[1]
        if re.fullmatch(_MATH, name):
            formula, end = self._contents(name, position)
            self._buffer.append(f" ${formula}$ ")
            return end
        if re.fullmatch(VERBATIM, name):
            self._flush()
            code, end = self._contents(name, position)
            self.draft.paragraph(code.strip("\n"), "code")
            return end
        if re.fullmatch(_TABLE, name):
            rows, end = self._contents(name, position)
            self._table(rows)
            return end
        if re.fullmatch(_FLOAT, name):
            self._set_aside.append((self._buffer, self._notes))
            self._buffer, self._notes = [], []
            return group(self._source, position, "[")[1]
        self._flush()
        if name == "abstract":
            self.draft.heading("Abstract")
        elif name == "thebibliography":
            self._begin_references()
        words, end = group(self._source, position, "[")
        if _WITH_ARGUMENT.fullmatch(name):
            end = group(self._source, end)[1]
        elif words and name not in {"enumerate", "itemize", "description", "document"}:
            self._buffer.append(f"{words}: ")  # a theorem's name
        return end

    def _end(self, name: str) -> None:
        if re.fullmatch(_FLOAT, name) and self._set_aside:
            self._end_float()
            return
        self._flush()
        if name == "thebibliography":
            self._kind = "text"

    def _end_float(self) -> None:
        self._flush()
        self._buffer, self._notes = self._set_aside.pop()

    def _aside(self, name: str, position: int) -> int:
        start = group(self._source, position, "[")[1]
        if name == "captionof":
            start = group(self._source, start)[1]
        words, end = group(self._source, start)
        if name in {"footnote", "footnotetext"}:
            self._notes.append(words)
        elif name in {"caption", "captionof"}:
            self.draft.paragraph(self._plain(words), "caption")
        elif name == "abstract" and words:
            self._flush()
            self.draft.heading("Abstract")
            self.draft.paragraph(self._plain(words))
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
        while (end := group(source, position)[1]) > position:  # width and columns
            position = end
        rows = _ROW_END.split(_RULE.sub("", source[position:]))
        lines = [" | ".join(self._plain(cell) for cell in re.split(r"(?<!\\)&", row)) for row in rows]
        self.draft.paragraph("\n".join(line for line in lines if line.strip(" |")), "table")

    def _contents(self, name: str, position: int) -> tuple[str, int]:
        """What an environment holds, and where it ends."""
        found = re.compile(rf"\\end\s*\{{{re.escape(name)}\}}").search(self._source, position)
        end = found.start() if found else len(self._source)
        return self._source[position:end], found.end() if found else end

    def _flush(self) -> None:
        text, self._buffer = self._plain("".join(self._buffer)), []
        if any(map(str.isalnum, text)):
            self.draft.paragraph(text, self._kind)
        notes, self._notes = self._notes, []
        for note in notes:
            self.draft.paragraph(self._plain(note), "footnote")

    def _plain(self, source: str) -> str:
        return re.sub(r"\s+([.,;:)])", r"\1", plain(source, self._labels))
