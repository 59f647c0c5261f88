"""legal-zh: LeCaRD, Chinese criminal judgments graded by experts (Ma et al. 2021; the predecessor of SST's LeCaRDv2).

Reads the repository's `data` folder (the candidates' zip files may stay packed):

    query/query.json                  one JSON object per line: ridx (the query's id), q (its facts), crime, path
    candidates/<ridx>/<id>.json       100 per query: ajName, ajjbqk (facts), cpfxgc (reasoning), pjjg (judgment)
    label/label_top30_dict.json       {ridx: {id: grade}}, grades 0 to 3

Rule: a case has three sections, or its full text (qw) if all of them are missing; each query ranks its 100 candidates.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from longmatch.lab.datasets.raw_files import open_raw
from longmatch.lab.datasets.records import Part, RawDocument, iterate_lines, parse_object
from longmatch.lab.datasets.sections import clean_parts, normalise_paragraphs
from longmatch.lab.datasets.splits import LEGAL_ZH
from longmatch.lab.datasets.writer import CollectionWriter, Summary

SECTIONS = (("ajjbqk", "案件基本情况 (facts)"), ("cpfxgc", "裁判分析过程 (reasoning)"), ("pjjg", "判决结果 (judgment)"))


def build(raw: Path, out: Path) -> Summary:
    """Build the set."""
    with open_raw(raw) as files, CollectionWriter(out) as writer:
        queries = set()
        for number, line in iterate_lines(files.require_one("query/query.json", "query.json")):
            if line.strip():
                row = parse_object(line, files.origin / "query.json", number)
                queries.add(str(row.get("ridx")))
                parts = clean_parts([Part("", normalise_paragraphs(str(row.get("q") or "")))])
                writer.add(RawDocument(str(row.get("ridx")), "", parts, "zh"))
        for path in files.require("*/[0-9]*.json"):
            query = path.parent.name
            if query not in queries:
                continue
            row = parse_object(path.read_bytes().decode("utf-8", errors="replace"), path)
            writer.add(RawDocument(path.stem, str(row.get("ajName") or ""), case_parts(row, SECTIONS), "zh"))
            writer.pool(query, [path.stem])
        label_file = files.require_one("label_top30_dict.json")
        grades = parse_object(label_file.read_text(encoding="utf-8"), label_file)
        for query, row in grades.items():
            for id, grade in row.items():
                writer.judge(LEGAL_ZH.of(query), query, id, int(grade))
        return writer.finish()


def case_parts(case: Mapping[str, Any], sections: Iterable[tuple[str, str]]) -> tuple[Part, ...]:
    """The sections of a case, given as (key, heading), or its full text if all of them are missing."""
    parts = clean_parts(Part(heading, normalise_paragraphs(str(case.get(key) or ""))) for key, heading in sections)
    return parts or clean_parts([Part("", normalise_paragraphs(str(case.get("qw") or "")))])
