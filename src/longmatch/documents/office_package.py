"""A DOCX or PPTX file as a package: its parts, the relationships between them, its properties."""

from pathlib import Path
from typing import Self
from xml.etree.ElementTree import Element

from longmatch.documents.archive import Archive, resolve
from longmatch.documents.checks import check_file, first_bytes
from longmatch.errors import ReadError

_OLE_MAGIC = b"\xd0\xcf\x11\xe0"  # the container of .doc and .ppt files and of encrypted ones


class Package:
    """The parts of an office file. `kind` is DOCX or PPTX, `main` the usual name of its main part."""

    def __init__(self, path: Path, kind: str, main: str) -> None:
        check_file(path)
        if first_bytes(path, 4) == _OLE_MAGIC:
            suffix = f".{kind.lower()}"
            advice = f"Open it in an office suite and save it as {suffix}, unlocked."
            raise ReadError(path, f"is encrypted, or an old {suffix[:-1]} file", advice)
        self.path = path
        self.archive = Archive(path, f"a {kind} file")
        self.main = self._target("officeDocument") or main
        if self.main not in self.archive:
            raise ReadError(path, f"is a zip file but not a {kind} file", "Unpack it and name a file in it.")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.archive.close()

    def part(self, name: str) -> Element | None:
        """Parse a part; None if the package has no such part."""
        return self.archive.xml(name)

    def sibling_part(self, name: str) -> Element | None:
        """Parse a part in the folder of the main part, such as styles.xml."""
        folder = self.main.rpartition("/")[0]
        return self.part(f"{folder}/{name}" if folder else name)

    def related(self, part: str) -> dict[str, tuple[str, str]]:
        """What a part refers to: id -> the last word of the relationship's type, and the name of the other part."""
        folder, _, name = part.rpartition("/")
        relationships = self.part(f"{folder}/_rels/{name}.rels" if folder else f"_rels/{name}.rels")
        return {
            found.get("Id", ""): (found.get("Type", "").rpartition("/")[2], resolve(folder, found.get("Target", "")))
            for found in (() if relationships is None else relationships)
            if found.get("TargetMode") != "External"
        }

    def properties(self) -> dict[str, str]:
        """The document properties by their local names: title, creator, created and others."""
        core = self.part(self._target("core-properties") or "docProps/core.xml")
        return {} if core is None else {item.tag: " ".join((item.text or "").split()) for item in core}

    def _target(self, kind: str) -> str:
        return next((target for name, target in self.related("").values() if name == kind), "")
