"""LeCaRDv2: 800 Chinese criminal cases against 55,192 candidates (SST section 4.1; Li et al. 2024).

Reads the repository THUIR/LeCaRDv2 with the candidates its README links to (they may stay packed):

    query/query.json or train_query.json and test_query.json   one JSON object per line: id, query, fact
    candidate/**/<pid>.json       pid, qw (full text), fact, reason, result, charge, article
    label/*relevence*.trec        one judgement per line: `query <TAB> 0 <TAB> pid <TAB> grade`, grades 0 to 3

Rule: a query is a document `query-<id>` with its fact, if any; only the candidates are ranked. Test is the released
test set if there is one (test_query.json, else the queries of a test label file); a tenth of the rest is validation.
"""

from collections.abc import Iterator
from pathlib import Path

from longmatch.lab.datasets.builders.lecard_v1 import case_parts
from longmatch.lab.datasets.raw_files import open_raw
from longmatch.lab.datasets.records import Part, RawDocument, Split, iterate_lines, parse_object
from longmatch.lab.datasets.sections import clean_parts, normalise_paragraphs
from longmatch.lab.datasets.splits import SplitRule
from longmatch.lab.datasets.writer import CollectionWriter, Summary

SECTIONS = (("fact", "案件基本情况 (facts)"), ("reason", "裁判分析过程 (reasoning)"), ("result", "判决结果 (judgment)"))
WITHOUT_TEST_SET, WITH_TEST_SET = SplitRule(test=20, validation=10), SplitRule(test=0, validation=10)


def build(raw: Path, out: Path) -> Summary:
    """Build the set."""
    with open_raw(raw) as files, CollectionWriter(out) as writer:
        for path in files.require("*query.json"):
            for number, line in iterate_lines(path):
                if line.strip():
                    case = parse_object(line, path, number)
                    text = str(case.get("fact") or case.get("query") or "")
                    parts = clean_parts([Part("", normalise_paragraphs(text))])
                    writer.add(RawDocument(f"query-{case.get('id')}", "", parts, "zh"))
        candidates = set()
        for path in files.require("candidate*/**/[0-9]*.json", "[0-9]*.json"):
            case = parse_object(path.read_bytes().decode("utf-8", errors="replace"), path)
            id = str(case.get("pid", path.stem))
            candidates.add(id)
            writer.add(RawDocument(id, "", case_parts(case, SECTIONS), "zh"))
        writer.candidates(candidates)
        test = {
            f"query-{parse_object(line, path, number).get('id')}"
            for path in files.find("test_query.json")
            for number, line in iterate_lines(path)
            if line.strip()
        }
        test = test or {query for query, _, _ in _labels(files.find("test_relevence*.trec"))}
        for query, id, grade in _labels(files.require("*relevence*.trec")):
            split: Split = "test" if query in test else (WITH_TEST_SET if test else WITHOUT_TEST_SET).of(query)
            writer.judge(split, query, id, grade)
        return writer.finish()


def _labels(paths: list[Path]) -> Iterator[tuple[str, str, int]]:
    for path in paths:
        for _, line in iterate_lines(path):
            cells = line.split()
            if len(cells) == 4 and cells[3].isdigit():
                yield f"query-{cells[0]}", cells[2], int(cells[3])
