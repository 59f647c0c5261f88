"""legal-zh: LeCaRD, Chinese criminal judgments graded by experts (Ma et al. 2021; the predecessor of SST's LeCaRDv2).

Reads the repository's `data` folder (the candidates' zip files may stay packed):

    query/query.json                  a JSON object a line: ridx (the query's id), q (its facts), crime, path
    candidates/<ridx>/<id>.json       100 for each query: ajName, ajjbqk (facts), cpfxgc (reasoning), pjjg (judgment)
    label/label_top30_dict.json       {ridx: {id: grade}}, grades 0 to 3

Rule: a case has three sections, or its full text (qw) where it lacks all of them; each query ranks its own 100.
"""

import json
from pathlib import Path
from typing import Any

from longmatch.errors import ReadError
from longmatch.lab.datasets.raw_files import opened
from longmatch.lab.datasets.records import Part, Record, iterate_lines
from longmatch.lab.datasets.sections import kept, paragraphs
from longmatch.lab.datasets.splits import LEGAL_ZH
from longmatch.lab.datasets.writer import CollectionWriter, Summary

SECTIONS = (("ajjbqk", "案件基本情况 (facts)"), ("cpfxgc", "裁判分析过程 (reasoning)"), ("pjjg", "判决结果 (judgment)"))


def build(raw: Path, out: Path) -> Summary:
    """Build the set."""
    with opened(raw) as files, CollectionWriter(out) as writer:
        queries = set()
        for number, line in iterate_lines(files.one("query/query.json", "query.json")):
            if line.strip():
                row = read_object(line, files.origin / "query.json", number)
                queries.add(str(row.get("ridx")))
                writer.add(
                    Record(str(row.get("ridx")), "", kept([Part("", paragraphs(str(row.get("q") or "")))]), "zh")
                )
        for path in files.some("*/[0-9]*.json"):
            query = path.parent.name
            if query not in queries:
                continue
            row = read_object(path.read_bytes().decode("utf-8", errors="replace"), path, 1)
            writer.add(Record(path.stem, str(row.get("ajName") or ""), _parts(row), "zh"))
            writer.pool(query, [path.stem])
        label_file = files.one("label_top30_dict.json")
        grades = read_object(label_file.read_text(encoding="utf-8"), label_file, 1)
        for query, row in grades.items():
            for id, grade in row.items():
                writer.judge(LEGAL_ZH.of(query), query, id, int(grade))
        return writer.finish()


def read_object(text: str, path: Path, number: int) -> dict[str, Any]:
    """A JSON object out of a line or a file."""
    try:
        content = json.loads(text)
    except ValueError as error:
        raise ReadError(path, f"line {number} is not JSON", "Fetch it again.") from error
    if not isinstance(content, dict):
        raise ReadError(path, f"line {number} is not a JSON object", "Fetch it again.")
    return content


def _parts(case: dict[str, Any]) -> tuple[Part, ...]:
    parts = kept(Part(heading, paragraphs(str(case.get(key) or ""))) for key, heading in SECTIONS)
    return parts or kept([Part("", paragraphs(str(case.get("qw") or "")))])
