"""CNSE and CNSS: Chinese news on the same event, or in the same story (SST section 4.1; Liu et al. 2019).

Reads the released file, `same_event_doc_pair.txt` or `same_story_doc_pair.txt`: cells parted by |, the first line names
them (label, doc_id1, doc_id2, title1, title2, content1, content2, keywords1, ... time2). Contents are words parted by
blanks.

Rule: the splits are the released code's, by the order of the file: the first 60 % train, the next 20 % validation, the
rest test. The blanks between Chinese characters are taken out again.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from longmatch.errors import ReadError
from longmatch.lab.datasets.raw_files import opened
from longmatch.lab.datasets.records import Part, Record, Split, iterate_lines
from longmatch.lab.datasets.sections import joined, kept
from longmatch.lab.datasets.writer import CollectionWriter, Summary

COLUMNS = ("label", "doc_id1", "doc_id2", "title1", "title2", "content1", "content2")
_WIDE = r"[\u3000-\u30ff\u3400-\u9fff\uff00-\uffef“”‘’…—]"
_BLANK = re.compile(rf"(?<={_WIDE})\s+|\s+(?={_WIDE})")


def build(raw: Path, out: Path, *, file: str) -> Summary:
    """Build one of the two sets from its file."""
    with opened(raw) as files, CollectionWriter(out) as writer:
        path = files.one(file)
        total = sum(1 for _ in _rows(path))
        for number, row in enumerate(_rows(path)):
            for side in "12":
                text = together(row[f"content{side}"])
                parts = kept([Part("", text)])
                writer.add(Record(row[f"doc_id{side}"], together(row[f"title{side}"]), parts, "zh"))
            writer.pair(_split(number, total), row["doc_id1"], row["doc_id2"], int(row["label"]))
        return writer.finish()


def _rows(path: Path) -> Iterator[dict[str, str]]:
    header: list[str] = []
    for number, line in iterate_lines(path):
        cells = line.split("|")
        if not header:
            header = [cell.strip() for cell in cells]
            if header[: len(COLUMNS)] != list(COLUMNS):
                raise ReadError(
                    path,
                    f"does not start with the columns {', '.join(COLUMNS)}",
                    "It is stored with Git LFS: fetch that.",
                )
        elif line:
            if len(cells) != len(header) or cells[0] not in {"0", "1"}:
                problem = f"line {number} has {len(cells)} cells and the label {cells[0]!r}"
                raise ReadError(path, problem, f"It needs {len(header)} cells and a label 0 or 1.")
            yield dict(zip(header, (cell.strip() for cell in cells), strict=True))


def _split(number: int, total: int) -> Split:
    if number < int(total * 0.6):
        return "train"
    return "validation" if number < int(total * 0.8) else "test"


def together(text: str) -> str:
    """Words as Chinese is written.

    >>> together("三星 发布 Galaxy Note ， 今天")
    '三星发布Galaxy Note，今天'
    """
    return joined(_BLANK.sub("", text))
