"""The checksums of the store's files, which LanceDB writes once and does not check when it reads them."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from longmatch.library.checksums import CheckedFiles, checksum, from_checked_json, replace_text, to_checked_json
from longmatch.library.errors import LibraryError

LIST = "checksums.json"
TABLES = ("documents", "files", "learnt")
PARTS = ("_versions/*.manifest", "_deletions/*", "_indices/*/*", "data/*")  # of a table, as patterns
DATA = "documents.lance/data/"
FILES = "files.lance/"


class StoreChecks:
    """Records checksums after every commit, and compares them when a library is opened.

    Files of a commit whose process was killed before it recorded them are recorded with the next. Libraries in object
    storage have no checksums: the storage has its own.
    """

    def __init__(self, address: str) -> None:
        self._address = address
        self._folder = None if "://" in address else Path(address)
        self.damaged: list[str] = []
        self._versions: Mapping[str, int] = {}  # of the tables, as recorded

    def check(self, recheck: bool = False) -> None:
        """Find damaged files; raises LibraryError unless what is damaged is not needed for every question."""
        if self._folder is not None:
            self._refuse_addresses(self._folder)
            listed, self._versions = self._listed(self._folder)
            self.damaged = CheckedFiles(self._folder).damaged(listed, recheck) if listed else []
            self._raise([name for name in self.damaged if not name.startswith((DATA, FILES))])

    def _refuse_addresses(self, folder: Path) -> None:
        """A table may say that its files are elsewhere, in storage that would be asked with the user's credentials."""
        for manifest in folder.glob("*.lance/_versions/*.manifest"):
            if b"://" in manifest.read_bytes():
                raise LibraryError(
                    f"{self._address} has files at another address ({manifest.relative_to(folder)}), which is not "
                    "opened. Ask for a whole copy."
                )

    @property
    def remark(self) -> str:
        """A sentence where a folder's documents have no checksums to compare with; else empty."""
        if self._folder is None or self._listed(self._folder)[0] or not any(self._folder.glob(f"{DATA}*")):
            return ""
        return (
            f"{self._address} has no valid {LIST}, so damaged or changed files would not be noticed. The next change "
            "of the library records what is there."
        )

    def first_damaged(self) -> str:
        """The first file that is now missing or not as its checksum says, and which of both; empty for none."""
        if self._folder is None:
            return ""
        listed, _ = self._listed(self._folder)
        if gone := next((name for name in sorted(listed) if not (self._folder / name).exists()), None):
            return f"{gone} is missing."
        wrong = CheckedFiles(self._folder).damaged(listed, recheck=True)
        return f"{wrong[0]} is damaged: its checksum is wrong." if wrong else ""

    def check_version(self, table: str, version: int) -> None:
        """Raise LibraryError if the latest commit of a table, which was opened after `check`, is lost."""
        if version < self._versions.get(table, 0):
            self._raise([f"{table}.lance/_versions"])

    def need_documents(self) -> None:
        """Raise LibraryError if a file of documents is damaged."""
        self._raise([name for name in self.damaged if name.startswith(DATA)])

    def need_files(self) -> None:
        """Raise LibraryError if the records of the indexed files are damaged."""
        if damaged := [name for name in self.damaged if name.startswith(FILES)]:
            raise LibraryError(
                f"{self._address}/{damaged[0]} is damaged: its checksum is wrong. Remove {self._address}/{FILES[:-1]} "
                "and index again; unchanged documents are not encoded again."
            )

    def record(self, table: str, version: int) -> None:
        """Record the checksums of new files, and the version of a table."""
        if self._folder is None:
            return
        listed, versions = self._listed(self._folder)
        found = {name: listed[name] if name in listed else checksum(self._folder / name) for name in self._files()}
        replace_text(self._folder / LIST, to_checked_json({"files": found, "versions": {**versions, table: version}}))
        CheckedFiles(self._folder).trust(found)

    def forget(self) -> None:
        """Forget all checksums, as before a library is made."""
        if self._folder is not None:
            (self._folder / LIST).unlink(missing_ok=True)

    def _files(self) -> Iterator[str]:
        assert self._folder is not None
        for table in TABLES:
            for pattern in PARTS:
                for path in (self._folder / f"{table}.lance").glob(pattern):
                    yield path.relative_to(self._folder).as_posix()

    @staticmethod
    def _listed(folder: Path) -> tuple[Mapping[str, int], Mapping[str, int]]:
        try:
            listed = from_checked_json((folder / LIST).read_text(encoding="utf-8"))
            return listed["files"], listed["versions"]
        except (OSError, ValueError, KeyError):  # older libraries have none
            return {}, {}

    def _raise(self, damaged: list[str]) -> None:
        if damaged:
            raise LibraryError(
                f"{self._address}/{damaged[0]} is damaged: its checksum is wrong. "
                f"Restore it from a backup, or remove {self._address} and index again."
            )
