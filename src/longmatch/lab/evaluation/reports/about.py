"""about.json: by which commands, from which code, on which machines and with which weights the rows were made."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from longmatch.lab.evaluation.rows import Row

FACTS = ("command", "commit", "code", "machine", "versions")  # rows alike in these were made together


def about(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """One entry for each command, code and machine, with the rows it made; read from the runs themselves."""
    entries: dict[str, dict[str, Any]] = {}
    for row in rows:
        for run in row.runs:
            _add(entries, run.made, row, "rows")
        if row.fidelity:
            _add(entries, row.fidelity.get("made", {}), row, "explanations")
    return list(entries.values())


def write_about(out: Path, rows: Sequence[Row]) -> None:
    """Write it beside the results."""
    (out / "about.json").write_text(json.dumps(about(rows), ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def _add(entries: dict[str, dict[str, Any]], made: Mapping[str, Any], row: Row, kind: str) -> None:
    facts = {key: made.get(key) for key in FACTS}
    entry = entries.setdefault(json.dumps(facts, sort_keys=True), facts | {"weights": [], "rows": {}})
    weights = made.get("weights")
    if weights and weights not in entry["weights"]:
        entry["weights"].append(weights)
    name = row.run.data if row.run.split == "test" else f"{row.run.data} ({row.run.split})"
    models = entry.setdefault(kind, {}).setdefault(name, [])
    if row.model not in models:
        models.append(row.model)
