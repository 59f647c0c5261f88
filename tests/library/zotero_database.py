"""A small Zotero data folder with the tables of the real schema that hold items and attachments."""

import sqlite3
from dataclasses import dataclass, field
from pathlib import Path

SCHEMA = """
CREATE TABLE itemTypes (itemTypeID INTEGER PRIMARY KEY, typeName TEXT, templateItemTypeID INT, display INT DEFAULT 1);
CREATE TABLE fields (fieldID INTEGER PRIMARY KEY, fieldName TEXT, fieldFormatID INT);
CREATE TABLE creatorTypes (creatorTypeID INTEGER PRIMARY KEY, creatorType TEXT);
CREATE TABLE itemTypeCreatorTypes (itemTypeID INT, creatorTypeID INT, primaryField INT,
    PRIMARY KEY (itemTypeID, creatorTypeID));
CREATE TABLE items (itemID INTEGER PRIMARY KEY, itemTypeID INT NOT NULL, dateAdded TIMESTAMP DEFAULT CURRENT_TIMESTAMP,
    dateModified TIMESTAMP DEFAULT CURRENT_TIMESTAMP, clientDateModified TIMESTAMP DEFAULT CURRENT_TIMESTAMP,
    libraryID INT NOT NULL, key TEXT NOT NULL, version INT NOT NULL DEFAULT 0, synced INT NOT NULL DEFAULT 0,
    UNIQUE (libraryID, key));
CREATE TABLE itemDataValues (valueID INTEGER PRIMARY KEY, value UNIQUE);
CREATE TABLE itemData (itemID INT, fieldID INT, valueID INT, PRIMARY KEY (itemID, fieldID));
CREATE TABLE itemAttachments (itemID INTEGER PRIMARY KEY, parentItemID INT, linkMode INT, contentType TEXT,
    charsetID INT, path TEXT, syncState INT DEFAULT 0, storageModTime INT, storageHash TEXT,
    lastProcessedModificationTime INT);
CREATE TABLE creators (creatorID INTEGER PRIMARY KEY, firstName TEXT, lastName TEXT, fieldMode INT);
CREATE TABLE itemCreators (itemID INT NOT NULL, creatorID INT NOT NULL, creatorTypeID INT NOT NULL DEFAULT 1,
    orderIndex INT NOT NULL DEFAULT 0, PRIMARY KEY (itemID, creatorID, creatorTypeID, orderIndex));
CREATE TABLE tags (tagID INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE itemTags (itemID INT NOT NULL, tagID INT NOT NULL, type INT NOT NULL, PRIMARY KEY (itemID, tagID));
CREATE TABLE collections (collectionID INTEGER PRIMARY KEY, collectionName TEXT NOT NULL,
    parentCollectionID INT DEFAULT NULL, libraryID INT NOT NULL, key TEXT NOT NULL);
CREATE TABLE collectionItems (collectionID INT NOT NULL, itemID INT NOT NULL, orderIndex INT NOT NULL DEFAULT 0,
    PRIMARY KEY (collectionID, itemID));
CREATE TABLE deletedItems (itemID INTEGER PRIMARY KEY, dateDeleted DEFAULT CURRENT_TIMESTAMP NOT NULL);
INSERT INTO itemTypes (itemTypeID, typeName) VALUES (1, 'attachment'), (2, 'journalArticle'), (3, 'book');
INSERT INTO creatorTypes VALUES (1, 'author'), (2, 'editor');
INSERT INTO itemTypeCreatorTypes VALUES (2, 1, 1), (2, 2, 0), (3, 1, 1), (3, 2, 0);
"""


@dataclass
class ZoteroFolder:
    """A data folder that grows item by item."""

    path: Path
    _fields: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.path.mkdir(parents=True)
        self.database = sqlite3.connect(self.path / "zotero.sqlite")
        self.database.executescript(SCHEMA)

    def item(self, kind: int = 2, authors: tuple[str, ...] = (), editors: tuple[str, ...] = (), **fields: str) -> int:
        """Add an item; names are given as `Last, First`."""
        item = self._new(kind)
        for role, names in ((1, authors), (2, editors)):
            for order, name in enumerate(names):
                last, _, first = name.partition(", ")
                creator = self._insert("creators (firstName, lastName)", first, last)
                self._insert("itemCreators (itemID, creatorID, creatorTypeID, orderIndex)", item, creator, role, order)
        for name, value in fields.items():
            self.set(item, name, value)
        return item

    def set(self, item: int, name: str, value: str) -> None:
        """Set a field."""
        if name not in self._fields:
            self._fields[name] = self._insert("fields (fieldName)", name)
        self.database.execute("INSERT OR IGNORE INTO itemDataValues (value) VALUES (?)", [value])
        found = self.database.execute("SELECT valueID FROM itemDataValues WHERE value = ?", [value]).fetchone()[0]
        self.database.execute("INSERT OR REPLACE INTO itemData VALUES (?, ?, ?)", [item, self._fields[name], found])

    def attach(self, item: int | None, name: str, text: str | None, link_mode: int = 0) -> int:
        """Attach a stored file; without text it is not on this computer. Returns the attachment's item."""
        attachment = self._new(1)
        stored = f"storage:{name}" if link_mode < 2 else name
        self._insert("itemAttachments (itemID, parentItemID, linkMode, path)", attachment, item, link_mode, stored)
        if text is not None:
            folder = self.path / "storage" / self.key(attachment)
            folder.mkdir(parents=True)
            (folder / name).write_text(text)
        return attachment

    def tag(self, item: int, *names: str) -> None:
        """Tag an item."""
        for name in names:
            self.database.execute("INSERT OR IGNORE INTO tags (name) VALUES (?)", [name])
            tag = self.database.execute("SELECT tagID FROM tags WHERE name = ?", [name]).fetchone()[0]
            self._insert("itemTags (itemID, tagID, type)", item, tag, 0)

    def collect(self, name: str, *items: int, parent: int | None = None) -> int:
        """Put items into a new collection."""
        place = self._insert("collections (collectionName, parentCollectionID, libraryID, key)", name, parent, 1, name)
        for item in items:
            self._insert("collectionItems (collectionID, itemID)", place, item)
        return place

    def bin(self, item: int) -> None:
        """Move an item to the bin."""
        self._insert("deletedItems (itemID)", item)

    @staticmethod
    def key(item: int) -> str:
        """The key of an item, as Zotero writes it."""
        return f"KEY{item:05d}"

    def _new(self, kind: int) -> int:
        number = self.database.execute("SELECT coalesce(max(itemID), 0) + 1 FROM items").fetchone()[0]
        self._insert("items (itemID, itemTypeID, libraryID, key)", number, kind, 1, self.key(number))
        return int(number)

    def _insert(self, into: str, *values: object) -> int:
        marks = ", ".join("?" * len(values))
        return int(self.database.execute(f"INSERT INTO {into} VALUES ({marks})", values).lastrowid or 0)
