"""legal: judgments of the Indian Supreme Court and the prior cases they relied on (FIRE 2017 IRLeD, task 2).

Reads the track's folder:

    Current_Cases/current_case_0001.txt   200 queries, citations masked upstream as [?CITATION?]
    Prior_Cases/prior_case_0001.txt       2,000 candidates
    irled-qrel.txt                        one judgement per line: `current_case_0001 Q0 prior_case_0780 1`

Rule: only the prior cases are ranked. It is a substitute for legal case retrieval (SST section 4.1).
"""

from pathlib import Path

from longmatch.lab.datasets.raw_files import open_raw
from longmatch.lab.datasets.records import Part, RawDocument, iterate_lines
from longmatch.lab.datasets.sections import clean_parts, normalise_paragraphs
from longmatch.lab.datasets.splits import LEGAL
from longmatch.lab.datasets.writer import CollectionWriter, Summary


def build(raw: Path, out: Path) -> Summary:
    """Build the set."""
    with open_raw(raw) as files, CollectionWriter(out) as writer:
        prior = files.require("Prior_Cases/*.txt")
        for path in (*files.require("Current_Cases/*.txt"), *prior):
            text = path.read_bytes().decode("utf-8", errors="replace")
            writer.add(RawDocument(path.stem, "", clean_parts([Part("", normalise_paragraphs(text))])))
        writer.candidates(path.stem for path in prior)
        for _, line in iterate_lines(files.require_one("*qrel*.txt")):
            cells = line.split()
            if len(cells) == 4 and cells[3].isdigit():
                writer.judge(LEGAL.of(cells[0]), cells[0], cells[2], int(cells[3]))
        return writer.finish()
