"""What every builder's test does: lay files out as upstream does, build, and open what was made."""

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from longmatch.lab.datasets import DataFolder

LayOut = Callable[[Mapping[str, str | bytes]], Path]
Build = Callable[..., DataFolder]


@pytest.fixture
def lay_out(tmp_path: Path) -> LayOut:
    """Write files by relative path and give back their folder."""

    def write(files: Mapping[str, str | bytes]) -> Path:
        for name, content in files.items():
            path = tmp_path / "raw" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content.encode() if isinstance(content, str) else content)
        return tmp_path / "raw"

    return write


@pytest.fixture
def built(lay_out: LayOut, tmp_path: Path) -> Build:
    """Lay files out, run a builder on them twice, check that both runs wrote the same, and open the result."""

    def run(builder: Callable[..., object], files: Mapping[str, str | bytes], **options: object) -> DataFolder:
        raw = lay_out(files)
        for name in ("out", "again"):
            builder(raw, tmp_path / name, **options)
        first, second = (
            {path.name: path.read_bytes() for path in (tmp_path / name).iterdir()} for name in ("out", "again")
        )
        assert first == second
        folder = DataFolder(tmp_path / "out")
        folder.validate()
        return folder

    return run
