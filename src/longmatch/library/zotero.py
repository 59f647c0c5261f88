"""A Zotero library as files to index: its attachments, each with what Zotero knows of them."""

import sqlite3
import time
from collections import defaultdict
from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import Any

from longmatch.documents.formats import is_readable
from longmatch.documents.metadata import bibliography
from longmatch.errors import LongmatchError, ReadError
from longmatch.library.files import DescribedFile

_FIELDS = {  # of Zotero -> key of the metadata
    "publicationTitle": "journal",
    "proceedingsTitle": "journal",
    "bookTitle": "journal",
    "volume": "volume",
    "issue": "issue",
    "pages": "pages",
    "publisher": "publisher",
    "university": "publisher",
    "institution": "publisher",
    "ISBN": "isbn",
    "url": "url",
}
_IMPORTED, _LINKED = (0, 1), 2  # how an attachment is stored
_ATTEMPTS = 3  # while Zotero is writing
_ATTACHMENTS = """
    SELECT a.itemID, a.parentItemID, i.key, a.linkMode, a.path FROM itemAttachments a JOIN items i USING (itemID)
    WHERE a.path IS NOT NULL AND a.itemID NOT IN (SELECT itemID FROM deletedItems)
    AND (a.parentItemID IS NULL OR a.parentItemID NOT IN (SELECT itemID FROM deletedItems)) ORDER BY i.key
"""
_VALUES = """
    SELECT d.itemID, f.fieldName, v.value
    FROM itemData d JOIN fields f USING (fieldID) JOIN itemDataValues v USING (valueID)
"""
_CREATORS = """
    SELECT ic.itemID, c.lastName, c.firstName FROM itemCreators ic JOIN creators c USING (creatorID)
    JOIN items i USING (itemID) JOIN itemTypeCreatorTypes t
    ON t.itemTypeID = i.itemTypeID AND t.creatorTypeID = ic.creatorTypeID AND t.primaryField = 1
    ORDER BY ic.itemID, ic.orderIndex
"""
_TYPES = "SELECT i.itemID, t.typeName FROM items i JOIN itemTypes t USING (itemTypeID)"
_TAGS = "SELECT it.itemID, t.name FROM itemTags it JOIN tags t USING (tagID) ORDER BY t.name"
_COLLECTIONS = "SELECT collectionID, parentCollectionID, collectionName FROM collections"
_IN_COLLECTIONS = "SELECT itemID, collectionID FROM collectionItems ORDER BY itemID, orderIndex"
DATABASE = "zotero.sqlite"


@dataclass
class ZoteroFiles:
    """The attachments of a Zotero library that longmatch reads, and what is wrong with others."""

    files: list[DescribedFile] = field(default_factory=list)
    problems: list[ReadError] = field(default_factory=list)


def attachments(folder: str | Path) -> ZoteroFiles:
    """The attachments in Zotero's data folder: files of `storage` and linked ones, with title, author, year, DOI, tags,
    collections and other fields of the items they belong to. Items in Zotero's bin are left out.

    The database is only read, and without a lock, so Zotero may be running.
    """
    folder = Path(folder)
    database = folder / DATABASE
    if not database.is_file():
        raise LongmatchError(f"{folder} holds no {DATABASE}. Name Zotero's data folder; its settings show where it is.")
    for attempt in range(1, _ATTEMPTS + 1):
        try:
            uri = f"{database.resolve().as_uri()}?mode=ro&immutable=1"
            with closing(sqlite3.connect(uri, uri=True)) as connection:
                connection.text_factory = lambda data: data.decode("utf-8", "replace")
                return _Reader(connection, folder).read()
        except sqlite3.Error as error:
            if attempt == _ATTEMPTS:
                raise LongmatchError(
                    f"{database} cannot be read as a Zotero library ({error}). Close Zotero and try again."
                ) from error
            time.sleep(0.5)
    raise AssertionError("unreachable")


class _Reader:
    """Reads one database."""

    def __init__(self, connection: sqlite3.Connection, folder: Path) -> None:
        self._rows, self._storage = connection.execute, folder / "storage"
        self._fields: dict[int, dict[str, str]] = defaultdict(dict)
        for item, name, value in self._rows(_VALUES):
            self._fields[item][name] = str(value)
        names = ((item, [str(part or "").strip() for part in parts]) for item, *parts in self._rows(_CREATORS))
        self._authors = _grouped((item, ", ".join(filter(None, parts))) for item, parts in names)
        self._types = dict(self._rows(_TYPES))
        self._tags = _grouped(self._rows(_TAGS))
        paths = _collection_names(self._rows(_COLLECTIONS))
        placed = ((item, paths.get(collection, "")) for item, collection in self._rows(_IN_COLLECTIONS))
        self._collections = _grouped(placed)

    def read(self) -> ZoteroFiles:
        """All attachments."""
        found = ZoteroFiles()
        for item, parent, key, mode, stored in self._rows(_ATTACHMENTS):
            path = self._path(str(key), mode, str(stored), found.problems)
            if path is not None and is_readable(path.name):
                found.files.append(self._described(path, str(key), item, item if parent is None else parent))
        return found

    def _path(self, key: str, mode: int, stored: str, problems: list[ReadError]) -> Path | None:
        """Where an attachment lies; None if it is a web link, or in a folder that only Zotero knows."""
        if mode in _IMPORTED and stored.startswith("storage:"):
            name = PurePath(stored.removeprefix("storage:").replace("\\", "/")).name
            return self._storage / PurePath(key).name / name if name else None
        if mode == _LINKED and stored.startswith("attachments:"):
            advice = "Index the base folder of Zotero's linked attachments as a folder."
            problems.append(ReadError(stored, "lies in a folder that Zotero's database does not name", advice))
            return None
        return Path(stored) if mode == _LINKED else None

    def _described(self, path: Path, key: str, attachment: int, item: int) -> DescribedFile:
        fields = self._fields.get(item, {})
        facts = {name: fields[field] for field, name in reversed(_FIELDS.items()) if fields.get(field)}
        date, extra = fields.get("date", ""), fields.get("extra", "")
        metadata: dict[str, Any] = bibliography(
            [], [date], [fields.get("DOI", ""), extra, fields.get("url", "")], **facts
        )
        tags = dict.fromkeys(tag for owner in (item, attachment) for tag in self._tags.get(owner, ()))
        more = {
            "author": "; ".join(self._authors.get(item, ())),
            "type": str(self._types.get(item, "")) if item != attachment else "",
            "tags": "; ".join(tags),
            "collections": "; ".join(self._collections.get(item, ())),
            "zotero": key,
        }
        metadata |= {name: value for name, value in more.items() if value}
        title = fields.get("title", "") if item != attachment else ""
        id = f"{path.parent.name}/{path.name}" if path.is_relative_to(self._storage) else f"{key}/{path.name}"
        return DescribedFile(path, id, " ".join(title.split()), metadata, self._storage)


def _grouped(rows: Iterable[tuple[Any, ...]]) -> dict[int, list[str]]:
    """The texts of each item, each once."""
    found: dict[int, dict[str, None]] = defaultdict(dict)
    for item, text in rows:
        if text:
            found[item][str(text)] = None
    return {item: list(texts) for item, texts in found.items()}


def _collection_names(rows: Iterable[tuple[Any, ...]]) -> dict[int, str]:
    """Each collection with those it lies in, as `Rivers/Tides`."""
    known = {id: (parent, str(name)) for id, parent, name in rows}
    names: dict[int, str] = {}
    for id in known:
        path: list[str] = []
        current: int | None = id
        while current in known and len(path) < 20:  # a collection may lie in itself
            current, name = known[current]
            path.append(name)
        names[id] = "/".join(reversed(path))
    return names
