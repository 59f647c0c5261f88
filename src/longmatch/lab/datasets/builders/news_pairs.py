"""CNSE and CNSS: Chinese news on the same event, or in the same story (SST section 4.1; Liu et al. 2019).

Reads the released file, `same_event_doc_pair.txt` or `same_story_doc_pair.txt`: cells separated by |, with a header
line (label, doc_id1, doc_id2, title1, title2, content1, content2, keywords1, ... time2). Contents are words separated
by blanks.

Rule: the splits are those of the released code, by file order: the first 60 % train, the next 20 % validation, the
rest test. The blanks between Chinese characters are removed.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from longmatch.errors import ReadError
from longmatch.lab.datasets.raw_files import open_raw
from longmatch.lab.datasets.records import Part, RawDocument, Split, iterate_lines
from longmatch.lab.datasets.sections import clean_parts, collapse_spaces
from longmatch.lab.datasets.writer import CollectionWriter, Summary

COLUMNS = ("label", "doc_id1", "doc_id2", "title1", "title2", "content1", "content2")
_WIDE = r"[\u3000-\u30ff\u3400-\u9fff\uff00-\uffef“”‘’…—]"
_BLANK = re.compile(rf"(?<={_WIDE})\s+|\s+(?={_WIDE})")


def build(raw: Path, out: Path, *, variant: str) -> Summary:
    """Build CNSE (`variant` event) or CNSS (`variant` story)."""
    with open_raw(raw) as files, CollectionWriter(out) as writer:
        path = files.require_one(f"same_{variant}_doc_pair.txt")
        total = sum(1 for _ in _rows(path))
        for number, row in enumerate(_rows(path)):
            for side in "12":
                parts = clean_parts([Part("", unsegment(row[f"content{side}"]))])
                writer.add(RawDocument(row[f"doc_id{side}"], unsegment(row[f"title{side}"]), parts, "zh"))
            split: Split = "train" if number < int(total * 0.6) else "validation"
            split = split if number < int(total * 0.8) else "test"
            writer.pair(split, row["doc_id1"], row["doc_id2"], int(row["label"]))
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
                    "It is stored with Git LFS; fetch the actual file.",
                )
        elif line:
            if len(cells) != len(header) or cells[0] not in {"0", "1"}:
                problem = f"line {number} has {len(cells)} cells and the label {cells[0]!r}"
                raise ReadError(path, problem, f"It needs {len(header)} cells and a label 0 or 1.")
            yield dict(zip(header, (cell.strip() for cell in cells), strict=True))


def unsegment(text: str) -> str:
    """Remove the blanks between Chinese words.

    >>> unsegment("三星 发布 Galaxy Note ， 今天")
    '三星发布Galaxy Note，今天'
    """
    return collapse_spaces(_BLANK.sub("", text))
