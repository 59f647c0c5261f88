"""COLIEE task 1: Canadian judgments and the cases they notice (SST section 4.1).

Reads the organisers' files (gated: see the catalogue):

    task1_train_files_<year>/<id>.txt      all cases of the training part, both queries and candidates
    task1_train_labels_<year>.json         {"008447.txt": ["012345.txt", ...]}: query and the cases it notices
    task1_test_files_<year>/, task1_test_labels_<year>.json   the same for the test part

Rule: the test part is test; a tenth of the training queries is validation. Test and validation queries rank only the
cases of their part. Marks of suppressed text (<FRAGMENT_SUPPRESSED> and the like) are removed; paragraphs begin at
their numbers ([12]).
"""

import re
from pathlib import Path

from longmatch.lab.datasets.raw_files import open_raw
from longmatch.lab.datasets.records import Part, RawDocument, Split, parse_object
from longmatch.lab.datasets.sections import clean_parts, collapse_spaces
from longmatch.lab.datasets.splits import SplitRule
from longmatch.lab.datasets.writer import CollectionWriter, Summary

TRAINING = SplitRule(test=0, validation=10)
_MARK = re.compile(r"<?\b(?:FRAGMENT|REFERENCE|CITATION|DATE)_SUPPRESSED\b>?")
_NUMBER = re.compile(r"^\s*\[[0-9]{1,4}\]\s*", re.MULTILINE)


def build(raw: Path, out: Path) -> Summary:
    """Build the set; the training or the test part may be missing."""
    with open_raw(raw) as files, CollectionWriter(out) as writer:
        files.require("task1_*_labels_*.json")
        for part in ("train", "test"):
            ids = []
            for path in files.find(f"task1_{part}_files_*/**/*.txt"):
                text = path.read_bytes().decode("utf-8", errors="replace")
                if writer.add(RawDocument(path.stem, "", clean_parts([Part("", case_text(text))]))):
                    ids.append(path.stem)
            for path in files.find(f"task1_{part}_labels_*.json"):
                for query, noticed in parse_object(path.read_text(encoding="utf-8"), path).items():
                    id = query.removesuffix(".txt")
                    split: Split = "test" if part == "test" else TRAINING.of(id)
                    for case in noticed:
                        writer.judge(split, id, case.removesuffix(".txt"))
                    if split != "train":
                        writer.pool(id, [case for case in ids if case != id])
        return writer.finish()


def case_text(text: str) -> str:
    """The paragraphs of a case.

    >>> case_text("[1] The <FRAGMENT_SUPPRESSED> appeal\\n fails.\\n[2]  Costs follow.")
    'The appeal fails.\\n\\nCosts follow.'
    """
    numbered = _NUMBER.sub("\n\n", _MARK.sub("", text))
    return "\n\n".join(filter(None, map(collapse_spaces, re.split(r"\n\s*\n", numbered))))
