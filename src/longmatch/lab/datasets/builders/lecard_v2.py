"""LeCaRDv2: 800 Chinese criminal cases against 55,192 candidates (SST section 4.1; Li et al. 2024).

Reads the repository THUIR/LeCaRDv2 with the candidates its README leads to (they may stay packed):

    query/query.json or train_query.json and test_query.json   a JSON object a line: id, query, fact
    candidate/**/<pid>.json       pid, qw (full text), fact, reason, result, charge, article
    label/*relevence*.trec        `query <TAB> 0 <TAB> pid <TAB> grade` a line, grades 0 to 3

Rule: a query is a document `query-<id>`, its fact where it has one; the candidates alone are ranked. Test is the
released test set where there is one (test_query.json, else the queries of a test label file); a tenth of the rest is
validation.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from longmatch.lab.datasets.builders.lecard_v1 import read_object
from longmatch.lab.datasets.raw_files import RawFiles, opened
from longmatch.lab.datasets.records import Part, Record, Split, iterate_lines
from longmatch.lab.datasets.sections import kept, paragraphs
from longmatch.lab.datasets.splits import SplitRule
from longmatch.lab.datasets.writer import CollectionWriter, Summary

SECTIONS = (("fact", "案件基本情况 (facts)"), ("reason", "裁判分析过程 (reasoning)"), ("result", "判决结果 (judgment)"))
WHOLE, REST = SplitRule(test=20, validation=10), SplitRule(test=0, validation=10)


def build(raw: Path, out: Path) -> Summary:
    """Build the set."""
    with opened(raw) as files, CollectionWriter(out) as writer:
        for path in files.some("*query.json"):
            for number, line in iterate_lines(path):
                if line.strip():
                    case = read_object(line, path, number)
                    text = str(case.get("fact") or case.get("query") or "")
                    writer.add(Record(f"query-{case.get('id')}", "", kept([Part("", paragraphs(text))]), "zh"))
        candidates = set()
        for path in files.some("candidate*/**/[0-9]*.json", "[0-9]*.json"):
            case = read_object(path.read_bytes().decode("utf-8", errors="replace"), path, 1)
            id = str(case.get("pid", path.stem))
            candidates.add(id)
            writer.add(Record(id, "", _parts(case), "zh"))
        writer.candidates(candidates)
        held_out = _test_queries(files)
        for query, id, grade in _labels(files.some("*relevence*.trec")):
            writer.judge(_split(query, held_out), query, id, grade)
        return writer.finish()


def _parts(case: dict[str, Any]) -> tuple[Part, ...]:
    parts = kept(Part(heading, paragraphs(str(case.get(key) or ""))) for key, heading in SECTIONS)
    return parts or kept([Part("", paragraphs(str(case.get("qw") or "")))])


def _labels(paths: list[Path]) -> Iterator[tuple[str, str, int]]:
    for path in paths:
        for _, line in iterate_lines(path):
            cells = line.split()
            if len(cells) == 4 and cells[3].isdigit():
                yield f"query-{cells[0]}", cells[2], int(cells[3])


def _test_queries(files: RawFiles) -> set[str]:
    told = {
        f"query-{read_object(line, path, number).get('id')}"
        for path in files.each("test_query.json")
        for number, line in iterate_lines(path)
        if line.strip()
    }
    return told or {query for query, _, _ in _labels(files.each("test_relevence*.trec"))}


def _split(query: str, held_out: set[str]) -> Split:
    if not held_out:
        return WHOLE.of(query)
    return "test" if query in held_out else REST.of(query)
